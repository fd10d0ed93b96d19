"""Buffers streamed text so that screen readers get whole sentences and lines."""

import re

from kimi_tui.base.terminal_text import sanitize

_SENTENCE_END = re.compile(r"\n|[.!?:;](?=\s)|[。！？；]")
_MAX_BUFFERED = 2_000
"""Maximum number of characters in the buffer."""


class SentenceBuffer:
    """Holds back the text of a response until a sentence or line is complete."""

    def __init__(self) -> None:
        self._buffer = ""

    def feed(self, text: str) -> str:
        """Add `text` and return the complete sentences."""
        self._buffer += text
        ends = [match.end() for match in _SENTENCE_END.finditer(self._buffer)]
        end = ends[-1] if ends else len(self._buffer) if len(self._buffer) > _MAX_BUFFERED else 0
        complete, self._buffer = self._buffer[:end], self._buffer[end:]
        return sanitize(complete)

    def flush(self) -> str:
        """Return the remaining text."""
        rest, self._buffer = self._buffer, ""
        return sanitize(rest)
