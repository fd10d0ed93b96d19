"""The event stream: the bytes of an answer cut into the JSON texts it carries.

The format is the HTML standard's server-sent events, read leniently: lines end in `\\n` alone (a `\\r` before
it is dropped), so U+2028 and U+0085 stay inside their text; comments, ids and `retry:` are skipped.
"""

from enum import Enum, auto
from typing import NamedTuple

DONE = "[DONE]"
"""The data of the event with which OpenAI's dialect ends a stream."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BodyKind(Enum):
    """What a body turned out to be by its first byte that isn't white space."""

    UNKNOWN = auto()
    EVENTS = auto()
    DOCUMENT = auto()
    """One JSON document, where a stream was asked for."""
    WEB_PAGE = auto()


class Event(NamedTuple):
    """One event. A server-sent `event: error` is marked; other names say nothing that the data doesn't."""

    data: str
    is_error: bool


class EventSplitter:
    """Cuts chunks of a body into events, whatever their borders; costs no more for one long line than its
    length."""

    def __init__(self) -> None:
        self.kind = BodyKind.UNKNOWN
        self.stray = ""
        """The first line that belongs to no field of the format."""
        self.had_events = False
        self.held = 0
        """Bytes that came since the last whole event."""
        self._unfinished_line: list[bytes] = []
        self._data: list[bytes] = []
        self._is_error = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that `chunk` completes. A document or web page completes at the end alone."""
        self.held += len(chunk)
        if self.kind is BodyKind.UNKNOWN:
            chunk = chunk.removeprefix(_BYTE_ORDER_MARK).lstrip()
            self.kind = _kind_of(chunk)
        if self.kind is not BodyKind.EVENTS:
            self._unfinished_line.append(chunk)
            return []
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            self._unfinished_line.append(chunk)
            return []
        if self._unfinished_line:
            self._unfinished_line.append(lines[0])
            lines[0] = b"".join(self._unfinished_line)
            self._unfinished_line.clear()
        if rest := lines.pop():
            self._unfinished_line.append(rest)
        events: list[Event] = []
        for line in lines:
            self._take(line, events)
        if events:
            self.held = len(rest)
        return events

    def finish(self) -> list[Event]:
        """The events that the end of the body completes: the last one when its blank line is missing."""
        events: list[Event] = []
        if self.kind is BodyKind.EVENTS:
            self._take(b"".join(self._unfinished_line), events)
            self._take(b"", events)
        return events

    def document(self) -> str:
        """The whole body, when it is no stream."""
        return _decoded(b"".join(self._unfinished_line))

    def _take(self, line: bytes, events: list[Event]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:])
        elif not line or line == b"\r":
            if self._data:
                lines = self._data
                data = lines[0] if len(lines) == 1 else b"\n".join(line.removeprefix(b" ") for line in lines)
                events.append(Event(_decoded(data).strip(), self._is_error))
                self._data = []
                self.had_events = True
            self._is_error = False
        elif line.startswith(b"event:"):
            self._is_error = line[6:].strip() == b"error"
        elif not self.stray and not line.startswith((b":", b"id:", b"retry:")):
            self.stray = _decoded(line)


def _kind_of(chunk: bytes) -> BodyKind:
    match chunk[:1]:
        case b"":
            return BodyKind.UNKNOWN
        case b"{" | b"[":
            return BodyKind.DOCUMENT
        case b"<":
            return BodyKind.WEB_PAGE
        case _:
            return BodyKind.EVENTS


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
