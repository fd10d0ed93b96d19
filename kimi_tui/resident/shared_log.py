"""Messages of a session that some client hasn't been sent yet, each encoded at most once."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from kimi_tui.resident.frames import message_line
from kimi_tui.resident.reply_recipients import ReplyReceiver
from kimi_tui.wire.channel import Outgoing

MAX_BACKLOG = 50_000
"""Number of messages that a client may be behind."""
MAX_BACKLOG_BYTES = 64 * 1024 * 1024
"""Size of the messages that a client may be behind."""
_FREE_BACKLOG = 100
"""Number of messages whose size isn't counted: a client that reads is hardly ever further behind."""


@dataclass(slots=True, eq=False)
class LogEntry:
    """A message with its recipients. None means all clients."""

    message: Outgoing
    recipients: frozenset[ReplyReceiver] | None = None
    _line: bytes | None = None
    size: int = 0
    """Bytes that count towards the limit of the log."""

    @property
    def line(self) -> bytes:
        """The message's line."""
        if self._line is None:
            self._line = message_line(self.message)
        return self._line


class SharedLog:
    """Entries by position. A client's cursor is the position of the next entry that it gets.

    So a slow client holds no copy of what it hasn't read. Entries that all clients have read are dropped, and
    the oldest ones beyond the limits.
    """

    def __init__(self, *, max_backlog: int = MAX_BACKLOG, max_bytes: int = MAX_BACKLOG_BYTES) -> None:
        self._entries: deque[LogEntry] = deque()
        self._max_backlog = max_backlog
        self._max_bytes = max_bytes
        self._bytes = 0
        self.start = 0
        """Position of the oldest entry."""

    @property
    def end(self) -> int:
        """Position after the newest entry."""
        return self.start + len(self._entries)

    def append(self, entry: LogEntry) -> None:
        """Add an entry."""
        if len(self._entries) >= _FREE_BACKLOG:
            entry.size = len(entry.line)
            self._bytes += entry.size
        self._entries.append(entry)
        while len(self._entries) > self._max_backlog or self._bytes > self._max_bytes:
            self.drop_before(self.start + 1)

    def read(self, start: int, end: int) -> Sequence[LogEntry]:
        """Return the entries from `start`, which hasn't been dropped, to before `end`."""
        if start == self.start and end == self.end:
            return list(self._entries)
        return list(islice(self._entries, start - self.start, end - self.start))

    def drop_before(self, position: int) -> None:
        """Drop the entries before `position`."""
        while self._entries and self.start < position:
            self._bytes -= self._entries.popleft().size
            self.start += 1
