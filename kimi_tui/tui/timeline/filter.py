"""Incremental filter of checkpoints, newest first. Works in slices, because rendering labels is slow."""

import time
from collections.abc import Iterable, Iterator

from kimi_tui.tui.timeline.labels import label_of
from kimi_tui.wire.timeline import TimelineNode

SLICE_S = 0.006
"""Maximum time in seconds that one slice blocks the screen."""
_MIN_SLICE = 64
"""Minimum number of checkpoints per slice. A shorter timeline is filtered in one slice."""


class SearchTextCache:
    """Cache of the searchable text of each checkpoint, in lower case."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[TimelineNode, str]] = {}
        """Checkpoints and their texts by uid."""

    def matches(self, node: TimelineNode, query: str) -> bool:
        """Return whether a checkpoint contains `query`, which must be lower case."""
        entry = self._entries.get(node.uid)
        if entry is None or (entry[0] is not node and entry[0] != node):
            entry = self._entries[node.uid] = node, _search_text(node)
        return query in entry[1]


class IncrementalFilter:
    """A search that runs one slice at a time."""

    def __init__(self, nodes: Iterable[TimelineNode], query: str, texts: SearchTextCache) -> None:
        """`nodes` are sorted by age, oldest first."""
        self._remaining: Iterator[TimelineNode] = reversed(list(nodes))
        self._query = query
        self._texts = texts
        self.is_done = False

    def search_slice(self) -> list[str]:
        """Search one slice and return the uids of the matches, oldest first.

        Each call returns older matches than the calls before.
        """
        uids: list[str] = []
        deadline = time.monotonic() + SLICE_S
        for count, node in enumerate(self._remaining, 1):
            if self._texts.matches(node, self._query):
                uids.append(node.uid)
            if count % _MIN_SLICE == 0 and time.monotonic() > deadline:
                break
        else:
            self.is_done = True
        return uids[::-1]


def _search_text(node: TimelineNode) -> str:
    files = node.files.paths if node.files is not None else ()
    return "\n".join((f"#{node.id}", label_of(node), node.name, node.kind, *node.tools, *files)).lower()
