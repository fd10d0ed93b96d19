r"""Parser for server-sent events.

The format is defined in the HTML standard. This parser is lenient: only `\n` ends a line (a `\r` before it is
dropped), so U+2028 and U+0085 are ordinary characters. Comments, ids and `retry:` are skipped.
"""

from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple

DONE = "[DONE]"
"""Data of the event that ends a stream in OpenAI's protocol."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BodyKind(Enum):
    """Type of a body, detected by its first non-whitespace byte."""

    UNKNOWN = auto()
    EVENTS = auto()
    DOCUMENT = auto()
    """One JSON document instead of a stream."""
    WEB_PAGE = auto()


class SseEvent(NamedTuple):
    """One event. Only the event name `error` matters, because other names repeat information in the data."""

    data: str
    is_error: bool


class SseParser:
    """Splits chunks of a body into events, independent of chunk boundaries. Takes linear time."""

    def __init__(self) -> None:
        self.kind = BodyKind.UNKNOWN
        self.stray_line = ""
        """First line that isn't part of the event format."""
        self.has_events = False
        self.pending_bytes = 0
        """Bytes since the last complete event."""
        self._unfinished_line: list[bytes] = []
        self._data: list[str] = []
        self._is_error = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Return the events that `chunk` completes. Documents have no events; see `document`."""
        self.pending_bytes += len(chunk)
        if self.kind is BodyKind.UNKNOWN:
            chunk = chunk.removeprefix(_BYTE_ORDER_MARK).lstrip()
            self.kind = _detect_kind(chunk)
        if self.kind is not BodyKind.EVENTS:
            self._unfinished_line.append(chunk)
            return []
        whole, line_end, rest = chunk.rpartition(b"\n")
        if not line_end:
            self._unfinished_line.append(chunk)
            return []
        if self._unfinished_line:
            whole = b"".join((*self._unfinished_line, whole))
            self._unfinished_line.clear()
        if rest:
            self._unfinished_line.append(rest)
        events = self._parse_lines(_decode(whole).split("\n"))
        if events:
            self.pending_bytes = len(rest)
        return events

    def finish(self) -> list[SseEvent]:
        """Return the last event if the body ends without a blank line after it."""
        if self.kind is not BodyKind.EVENTS:
            return []
        return self._parse_lines([_decode(b"".join(self._unfinished_line)), ""])

    def document(self) -> str:
        """Return the whole body of a response that isn't a stream."""
        return _decode(b"".join(self._unfinished_line))

    def _parse_lines(self, lines: Iterable[str]) -> list[SseEvent]:
        events: list[SseEvent] = []
        data = self._data
        for line in lines:
            if line.startswith("data:"):
                data.append(line[5:])
            elif not line or line == "\r":
                if data:
                    text = data[0] if len(data) == 1 else "\n".join(it.removeprefix(" ") for it in data)
                    events.append(SseEvent(text.strip(), self._is_error))
                    data.clear()
                    self.has_events = True
                self._is_error = False
            elif line.startswith("event:"):
                self._is_error = line[6:].strip() == "error"
            elif not self.stray_line and not line.startswith((":", "id:", "retry:")):
                self.stray_line = line
        return events


def _detect_kind(chunk: bytes) -> BodyKind:
    match chunk[:1]:
        case b"":
            return BodyKind.UNKNOWN
        case b"{" | b"[":
            return BodyKind.DOCUMENT
        case b"<":
            return BodyKind.WEB_PAGE
        case _:
            return BodyKind.EVENTS


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")
