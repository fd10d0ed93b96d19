"""Untrusted text made fit for a terminal while it streams."""

import re

from kimi_tui.base.terminal import plain

_LONGEST_HELD = 4096
_OPEN_END = re.compile(
    r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c]*\x1b?|[ -/]*)?|\x9b[0-?]*[ -/]*|\r)\Z"
)
"""An escape sequence at the end that a later fragment may complete, or half a line ending."""


class PlainStream:
    """`base.terminal.plain` over fragments: a sequence that is split between two is still caught."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, fragment: str) -> str:
        """What may be printed now."""
        text = self._held + fragment
        self._held = ""
        open_end = _OPEN_END.search(text, max(0, len(text) - _LONGEST_HELD))
        if open_end:
            self._held, text = text[open_end.start() :], text[: open_end.start()]
        return plain(text)

    def flush(self) -> str:
        """What was held back, now that nothing follows."""
        text, self._held = self._held, ""
        return plain(text)
