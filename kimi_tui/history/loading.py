"""Loading a journal: its file read into a line of the conversation. Nothing is written."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.base.errors import SessionError
from kimi_tui.history.journal import Journal, RawLine, raw_lines
from kimi_tui.history.line import Line
from kimi_tui.history.notation import DamagedLine, UnknownRole, parse, pending_message, role_of
from kimi_tui.history.records import Pending, SystemPrompt


@dataclass(slots=True)
class Loaded:
    """What a file held."""

    line: Line = field(default_factory=Line)
    head: int = 0
    """Where the first line ends, if it is the system prompt."""
    end: int = 0
    """Where the last line ends that was not cut off."""
    torn: RawLine | None = None
    """The last line, when it was cut off."""
    ends_in_newline: bool = True

    def take(self, raw: RawLine) -> None:
        """Go on with a line of the file. Raises DamagedLine."""
        record, loss = parse(raw.data)
        if isinstance(record, Pending) and not raw.is_ended:
            pending_message(record)
        if loss:
            self.line.find("mended_line", raw.number, loss)
        if raw.offset == 0 and isinstance(record, SystemPrompt):
            self.head = raw.end
        self.line.take(record, offset=raw.offset - self.head, number=raw.number)


def load(path: Path) -> Loaded:
    """The line that `path` holds; what could not be read is in its findings. Raises SessionError."""
    loaded = Loaded()
    for raw in raw_lines(path):
        try:
            if not raw.is_blank:
                loaded.take(raw)
        except DamagedLine as error:
            _leave_out(loaded, raw, error)
        if loaded.torn is None:
            loaded.end = raw.end
            loaded.ends_in_newline = raw.is_ended
    return loaded


def ids_used(journal: Journal) -> int:
    """The first checkpoint id that no rotation of `journal` knows: for a file that lost some of its own."""
    used = 0
    for path in journal.rotations().values():
        try:
            used = max([used, *(_next_id(raw.data) for raw in raw_lines(path))])
        except SessionError:
            continue
    return used


def _leave_out(loaded: Loaded, raw: RawLine, error: DamagedLine) -> None:
    loaded.line.next_id = max(loaded.line.next_id, _next_id(raw.data))
    if isinstance(error, UnknownRole):
        loaded.line.find("unknown_role", raw.number, str(error))
    elif raw.is_ended:
        loaded.line.find("damaged_line", raw.number, str(error))
    else:
        loaded.torn = raw
        loaded.line.find("torn_line", raw.number, f"{len(raw.data)} bytes")


_ID_RECORDS = {"_checkpoint", "_revert", "_repair"}
_ID = re.compile(rb'"(next_)?id"\s*:\s*(\d{1,15})')


def _next_id(data: bytes) -> int:
    """The lowest id that may follow a record, which may be damaged."""
    if role_of(data) not in _ID_RECORDS:
        return 0
    return max((int(number) + (not is_next) for is_next, number in _ID.findall(data)), default=0)
