"""A stretch of the conversation: a line of it together with the lines of a file that hold it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.history.conversation import is_note
from kimi_tui.history.disk import part_of
from kimi_tui.history.finding import Finding
from kimi_tui.history.journal import raw_lines
from kimi_tui.history.line import Line
from kimi_tui.history.notation import DamagedLine, encode, parse


@value
class Body:
    """Lines of a file that are carried over into its successor, or into that of another."""

    path: Path
    start: int
    end: int
    ends_in_newline: bool = True

    def until(self, offset: int) -> "Body":
        """The lines before `offset`, in bytes from the first of these lines."""
        return Body(self.path, self.start, self.start + offset)

    def chunks(self) -> Iterator[bytes]:
        """The lines, in pieces."""
        yield from part_of(self.path, self.start, self.end)
        if not self.ends_in_newline:
            yield b"\n"


@value
class Stretch:
    """A line of the conversation, its damage mended in memory, and where it is written."""

    line: Line
    body: Body
    repairs: Sequence[bytes] = ()
    """The lines that make `line` of what `body` holds, after those of `body`."""
    found: tuple[Finding, ...] = ()
    """What there was to mend."""

    def before(self, checkpoint_id: int) -> "Stretch":
        """What lies before a checkpoint. Raises ValueError when the checkpoint isn't there."""
        body = self.body.until(self.line.mark(checkpoint_id).offset)
        late = [encode(record) for record in self.line.late_after(checkpoint_id)]
        return Stretch(self.line.cut(checkpoint_id), body, late)

    def own_words(self, checkpoint_id: int) -> list[tuple[Message, bytes]]:
        """What the user said right after a checkpoint: up to the model's answer, without system notes.

        Reads the file. Raises ValueError when the checkpoint isn't there, SessionError.
        """
        start = self.body.start + self.line.mark(checkpoint_id).offset
        words: list[tuple[Message, bytes]] = []
        for raw in raw_lines(self.body.path, start=start):
            try:
                record, _ = parse(raw.data)
            except DamagedLine:
                continue
            if not isinstance(record, Message):
                continue
            if record.role != "user":
                break
            if not is_note(record):
                words.append((record, raw.data.rstrip(b"\r\n") + b"\n"))
        return words
