"""Segment of a conversation: the state of a branch, and the lines of a file that store it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.filesystem import read_range
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.message_history import is_note
from kimi_tui.history.record_codec import DamagedLine, encode, parse
from kimi_tui.history.repair_report import RepairFinding


@frozen
class FileRange:
    """Lines of a file that are copied verbatim into a new file."""

    path: Path
    start: int
    end: int
    ends_in_newline: bool = True

    def truncated_at(self, offset: int) -> "FileRange":
        """Return the lines before `offset`, in bytes from the start of the range."""
        return FileRange(self.path, self.start, self.start + offset)

    def chunks(self) -> Iterator[bytes]:
        """Yield the lines in chunks of bytes."""
        yield from read_range(self.path, self.start, self.end)
        if not self.ends_in_newline:
            yield b"\n"


@frozen
class ConversationSegment:
    """The state of a branch, repaired in memory, and the location of its lines."""

    state: ConversationState
    file_range: FileRange
    repairs: Sequence[bytes] = ()
    """Lines that must follow those of `file_range` to produce `state`."""
    findings: tuple[RepairFinding, ...] = ()
    """The problems that were repaired."""

    def before_checkpoint(self, checkpoint_id: int) -> "ConversationSegment":
        """Return the part before a checkpoint. Raises ValueError if the checkpoint doesn't exist."""
        file_range = self.file_range.truncated_at(self.state.position_of(checkpoint_id).offset)
        late_records = [encode(record) for record in self.state.late_records_after(checkpoint_id)]
        return ConversationSegment(self.state.state_before(checkpoint_id), file_range, late_records)

    def user_messages_after(self, checkpoint_id: int) -> list[tuple[Message, bytes]]:
        """Return the user's messages right after a checkpoint, up to the response, without system notes.

        Reads the file. Raises ValueError if the checkpoint doesn't exist, SessionError.
        """
        start = self.file_range.start + self.state.position_of(checkpoint_id).offset
        messages: list[tuple[Message, bytes]] = []
        for raw in raw_lines(self.file_range.path, start=start):
            try:
                record, _ = parse(raw.data)
            except DamagedLine:
                continue
            if not isinstance(record, Message):
                continue
            if record.role != "user":
                break
            if not is_note(record):
                messages.append((record, raw.data.rstrip(b"\r\n") + b"\n"))
        return messages
