"""Reader that turns a journal into the state of a conversation. Nothing is written."""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.base.errors import SessionError
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.journal import Journal, RawLine, raw_lines
from kimi_tui.history.record_codec import DamagedLine, UnknownRole, encode, parse, pending_message, role_of
from kimi_tui.history.records import PendingRecord, RepairRecord, SystemPrompt
from kimi_tui.history.repair_report import RepairFinding

_LOSS_KINDS = {"torn_line", "damaged_line"}


@dataclass(slots=True)
class LoadedJournal:
    """The content of a journal."""

    state: ConversationState = field(default_factory=ConversationState)
    prompt_size: int = 0
    """Size of the system prompt's line in bytes; 0 if the file has no system prompt."""
    end: int = 0
    """Offset of the end of the last complete line, in bytes."""
    torn_line: RawLine | None = None
    """The last line, if it was truncated."""
    ends_in_newline: bool = True

    def add_line(self, raw: RawLine) -> None:
        """Apply the next line of the file. Raises DamagedLine."""
        record, loss = parse(raw.data)
        if isinstance(record, PendingRecord) and not raw.has_line_end:
            pending_message(record)
        if loss:
            self.state.add_finding("mended_line", raw.number, loss)
        if raw.offset == 0 and isinstance(record, SystemPrompt):
            self.prompt_size = raw.end
        self.state.apply(record, offset=raw.offset - self.prompt_size, number=raw.number)

    def repair(self, journal: Journal) -> tuple[list[bytes], tuple[RepairFinding, ...]]:
        """Complete unfinished calls and steps in memory. Return the lines to append, and the findings.

        If lines were lost, the next checkpoint gets an id that no rotation of `journal` uses.
        """
        lines = [encode(message) for message in self.state.closing_messages()]
        self.state.close_open_step()
        findings = self.state.findings
        if not findings:
            return [], ()
        if any(finding.kind in _LOSS_KINDS for finding in findings):
            self.state.next_id = max(self.state.next_id, _next_unused_id(journal))
        record = RepairRecord(found=findings, next_id=self.state.next_id, time=time.time())
        return [*lines, encode(record)], findings


def read_journal(path: Path) -> LoadedJournal:
    """Return the content of the journal at `path`, with problems in its findings. Raises SessionError."""
    loaded = LoadedJournal()
    for raw in raw_lines(path):
        try:
            if not raw.is_blank:
                loaded.add_line(raw)
        except DamagedLine as error:
            _skip_line(loaded, raw, error)
        if loaded.torn_line is None:
            loaded.end = raw.end
            loaded.ends_in_newline = raw.has_line_end
    return loaded


def _next_unused_id(journal: Journal) -> int:
    """Return the first checkpoint id after those in the rotations of `journal`."""
    next_id = 0
    for path in journal.rotations().values():
        try:
            next_id = max([next_id, *(_next_id(raw.data) for raw in raw_lines(path))])
        except SessionError:
            continue
    return next_id


def _skip_line(loaded: LoadedJournal, raw: RawLine, error: DamagedLine) -> None:
    loaded.state.next_id = max(loaded.state.next_id, _next_id(raw.data))
    if isinstance(error, UnknownRole):
        loaded.state.add_finding("unknown_role", raw.number, str(error))
    elif raw.has_line_end:
        loaded.state.add_finding("damaged_line", raw.number, str(error))
    else:
        loaded.torn_line = raw
        loaded.state.add_finding("torn_line", raw.number, f"{len(raw.data)} bytes")


_ID_RECORDS = {"_checkpoint", "_revert", "_repair"}
_ID = re.compile(rb'"(next_)?id"\s*:\s*(\d{1,15})')


def _next_id(data: bytes) -> int:
    """Return the lowest checkpoint id that may follow a line, even a damaged one; 0 for any id."""
    if role_of(data) not in _ID_RECORDS:
        return 0
    return max((int(number) + (not is_next) for is_next, number in _ID.findall(data)), default=0)
