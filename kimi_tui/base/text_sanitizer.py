"""Sanitizers for streams of untrusted text."""

import codecs
import re

from kimi_tui.base.terminal_text import sanitize

_MAX_HELD_SEQUENCE_CHARS = 4096
_MAX_HELD_LINE_CHARS = 65_536
_INCOMPLETE_SEQUENCE = re.compile(
    r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c]*\x1b?|[ -/]*)?|\x9b[0-?]*[ -/]*|\r)\Z"
)
"""An escape sequence at the end that the next piece may complete, or the first half of a CRLF."""
_PLAIN_BYTES = bytes((*range(0x20, 0x7F), 0x09, 0x0A))
_CONTROL_CHARACTER = re.compile("[\r\x1b\x90\x98\x9b\x9d-\x9f]")


class StreamSanitizer:
    """Applies `terminal_text.sanitize` to streamed text, including sequences split between two fragments."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, fragment: str) -> str:
        """Add `fragment` and return the text that can be printed now."""
        text = self._held + fragment
        self._held = ""
        incomplete = _INCOMPLETE_SEQUENCE.search(text, max(0, len(text) - _MAX_HELD_SEQUENCE_CHARS))
        if incomplete:
            text, self._held = text[: incomplete.start()], text[incomplete.start() :]
        return sanitize(text)

    def flush(self) -> str:
        """Return the text that was held back. Call it at the end of the stream."""
        text, self._held = self._held, ""
        return sanitize(text)


class ByteStreamSanitizer:
    """Decodes UTF-8 output and applies `terminal_text.sanitize`, wherever the chunks are split.

    Holds back a line that a carriage return may still overwrite, and an incomplete escape sequence.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes) -> str:
        """Add `data` and return the text that can be shown now."""
        if self._is_plain(data):
            return data.decode("ascii")
        text = self._held + self._decoder.decode(data)
        self._held = ""
        if not _CONTROL_CHARACTER.search(text):
            return sanitize(text)
        complete, newline, line = text.rpartition("\n")
        if "\r" in line or _INCOMPLETE_SEQUENCE.search(line):
            self._held = _apply_carriage_returns(line)
            line = ""
        if len(self._held) > _MAX_HELD_LINE_CHARS:
            line, self._held = self._held, ""
        return sanitize(complete + newline + line)

    def flush(self) -> str:
        """Return the text that was held back. Call it at the end of the output."""
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return sanitize(text)

    def _is_plain(self, data: bytes) -> bool:
        """Return whether `data` can be passed through: the common case, which is cheap to detect."""
        has_pending = bool(self._held or self._decoder.getstate()[0])
        return not has_pending and data.isascii() and not data.translate(None, _PLAIN_BYTES)


def _apply_carriage_returns(line: str) -> str:
    """Return `line` without the text that its carriage returns have already overwritten."""
    body = line.rstrip("\r")
    return body.rpartition("\r")[2] + ("\r" if len(body) < len(line) else "")
