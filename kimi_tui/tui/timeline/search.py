"""What a filter finds among the checkpoints: the newest first, in bites, since reading labels takes time."""

import time
from collections.abc import Iterable, Iterator

from kimi_tui.tui.timeline.labels import label_of
from kimi_tui.wire.timeline import TimelineNode

BITE_S = 0.006
"""A search holds the screen up no longer at a time."""
_AT_LEAST = 64
"""Checkpoints that one bite takes however long that is: a short timeline is searched at once."""


class SearchedWords:
    """What is searched of each checkpoint, in small letters. Each is read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[TimelineNode, str]] = {}
        """By their uids."""

    def fit(self, node: TimelineNode, query: str) -> bool:
        """Whether a checkpoint speaks of `query`, which is in small letters."""
        known = self._known.get(node.uid)
        if known is None or (known[0] is not node and known[0] != node):
            known = self._known[node.uid] = node, _words_of(node)
        return query in known[1]


class Search:
    """One search, which goes on a bite at a time."""

    def __init__(self, nodes: Iterable[TimelineNode], query: str, words: SearchedWords) -> None:
        """`nodes` come the oldest first."""
        self._left: Iterator[TimelineNode] = reversed(list(nodes))
        self._query = query
        self._words = words
        self.is_over = False

    def go_on(self) -> list[str]:
        """Search one bite; the uids of what is found, which is older than all before, the oldest first."""
        found: list[str] = []
        until = time.monotonic() + BITE_S
        for count, node in enumerate(self._left, 1):
            if self._words.fit(node, self._query):
                found.append(node.uid)
            if count % _AT_LEAST == 0 and time.monotonic() > until:
                break
        else:
            self.is_over = True
        return found[::-1]


def _words_of(node: TimelineNode) -> str:
    files = node.files.paths if node.files is not None else ()
    return "\n".join((f"#{node.id}", label_of(node), node.name, node.kind, *node.tools, *files)).lower()
