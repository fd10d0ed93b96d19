"""Words of a model on their way to a listener: whole sentences and lines, not fragments."""

import re

from kimi_tui.base.terminal import plain

_ENDS = re.compile(r"\n|[.!?:;](?=\s)|[。！？；]")
_LONGEST = 2_000
"""Characters that are held back at most."""


class Speech:
    """Holds the text of one answer back until a sentence or a line is whole."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """What can be said now."""
        self._held += text
        ends = [found.end() for found in _ENDS.finditer(self._held)]
        end = ends[-1] if ends else len(self._held) if len(self._held) > _LONGEST else 0
        said, self._held = self._held[:end], self._held[end:]
        return plain(said)

    def end(self) -> str:
        """What is left."""
        said, self._held = self._held, ""
        return plain(said)
