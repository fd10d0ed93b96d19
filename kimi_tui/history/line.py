"""A line of the conversation: what records make, taken in order.

A live context and a restore take the same records through the same `Line`, so memory is what a restore
would find.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.history.conversation import Conversation, interrupted_result
from kimi_tui.history.estimate import RunningEstimate
from kimi_tui.history.finding import Finding, FindingKind
from kimi_tui.history.notation import role_of
from kimi_tui.history.open_step import OpenStep
from kimi_tui.history.records import (
    Checkpoint,
    FilesOf,
    Ignored,
    Pending,
    Record,
    Repair,
    Revert,
    SystemPrompt,
    Usage,
)


@value
class Mark:
    """Where a checkpoint stands."""

    offset: int
    """Where its record begins, in bytes after the system prompt's line."""
    messages: int
    """How many messages lie before it."""
    token_count: int
    counted: int
    reverts: int


class Line:
    """The messages, checkpoints and counts of one line of the conversation."""

    def __init__(self) -> None:
        self._conversation = Conversation()
        self._checkpoints: list[Checkpoint] = []
        self._marks: list[Mark] = []
        self._ids: set[int] = set()
        self._late: list[tuple[int, FilesOf]] = []
        """Where the records lie that came after the checkpoint that they are of."""
        self._superseded: OpenStep | None = None
        """The notes of the newest step: they have the results, should its own write be cut off."""
        self._said_in = 0
        self._found: list[Finding] = []
        self._known: set[tuple[FindingKind, int]] = set()
        self.step: OpenStep | None = None
        self.system_prompt: str | None = None
        self.token_count = 0
        self.counted = 0
        """How many messages `token_count` covers."""
        self._uncounted = RunningEstimate()
        self.next_id = 0
        self.parent: str | None = None
        """The uid that the next checkpoint grows from."""
        self.reverts: list[Revert] = []

    @property
    def history(self) -> Sequence[Message]:
        """The messages."""
        return self._conversation.messages

    @property
    def token_count_with_pending(self) -> int:
        """`token_count`, and an estimate of the messages since."""
        return self.token_count + self._uncounted.tokens(
            self.history, start=self.counted, settled=self._conversation.settled
        )

    @property
    def checkpoints(self) -> Sequence[Checkpoint]:
        """The checkpoints, oldest first."""
        return self._checkpoints

    @property
    def marks(self) -> Sequence[Mark]:
        """Where the checkpoints stand, oldest first."""
        return self._marks

    @property
    def marked(self) -> list[tuple[int, Checkpoint]]:
        """The checkpoints with how many messages lie before each, oldest first."""
        counts = (mark.messages for mark in self._marks)
        return list(zip(counts, self._checkpoints, strict=True))

    @property
    def since_checkpoint(self) -> Sequence[Message]:
        """What was said since the newest checkpoint; nothing when there is none."""
        return self.history[self._marks[-1].messages :] if self._marks else ()

    def has(self, checkpoint_id: int) -> bool:
        """Whether a checkpoint is on this line."""
        return checkpoint_id in self._ids

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was not as it should be, apart from what an earlier restore has told."""
        return tuple(item for item in self._found if (item.kind, item.line) not in self._known)

    def mark(self, checkpoint_id: int) -> Mark:
        """Where a checkpoint stands. Raises ValueError when it isn't on this line."""
        return self._marks[self._index(checkpoint_id)]

    def find(self, kind: FindingKind, number: int, detail: str = "") -> None:
        """Note something that is not as it should be in line `number` of the file."""
        self._found.append(Finding(kind, number, detail))

    def unfinished(self) -> list[Message]:
        """The messages that finish what is open: a step under way, or calls without results.

        None of them is made up but the results that say a call was interrupted.
        """
        if self.step is not None:
            return self.step.finished()
        if not self._conversation.is_open:
            return []
        return self._conversation.missing_results(self._noted_results())

    def prepared(self, messages: Iterable[Message]) -> list[Message]:
        """`messages` with what must be said before and between them, so that every call has its result.

        Raises ValueError for a result that no call awaits.
        """
        missing = self.unfinished()
        ready: list[Message] = []
        if self.step is not None:
            ready, missing = missing, []
        for message in messages:
            if message.role == "tool":
                missing.remove(_answered_by(message, missing))
            else:
                ready += missing
                missing = [interrupted_result(call) for call in message.tool_calls or ()]
            ready.append(message)
        return ready

    def settle(self) -> None:
        """Finish what is open, as `unfinished` says."""
        if self.step is not None:
            self.find("interrupted_step", self.step.number)
        elif not self._conversation.is_open:
            return
        else:
            done = {result.tool_call_id for result in self._noted_results()}
            names = [call.function.name for call in self._conversation.unanswered if call.id not in done]
            kind: FindingKind = "unanswered_call" if names else "interrupted_step"
            self.find(kind, self._said_in, ", ".join(names))
        number = self.step.number if self.step is not None else self._said_in
        for message in self.unfinished():
            self._put(message, number)
        self.step = None

    def take(self, record: Record, *, offset: int = 0, number: int = 0) -> None:
        """Go on with `record`, `offset` bytes after the system prompt, in line `number` of the file."""
        match record:
            case Message():
                self._take_message(record, number)
            case Checkpoint():
                self._take_checkpoint(record, offset, number)
            case FilesOf():
                self._take_files(record, offset)
            case Usage(token_count=token_count):
                self.token_count = token_count
                self.counted = len(self.history)
            case Pending():
                self._take_pending(record, number)
            case SystemPrompt(content=content):
                self.system_prompt = content if self.system_prompt is None else self.system_prompt
            case Revert():
                self.settle()
                self.next_id = max(self.next_id, record.next_id)
                self.parent = record.parent or self.parent
                self.reverts.append(record)
            case Repair():
                self._known.update((item.kind, item.line) for item in record.found)
                self.next_id = max(self.next_id, record.next_id)
            case Ignored():
                pass
            case _:
                assert_never(record)

    def cut(self, checkpoint_id: int) -> "Line":
        """The line as it was just before that checkpoint, without the system prompt.

        Raises ValueError when the checkpoint isn't there.
        """
        index = self._index(checkpoint_id)
        mark = self._marks[index]
        line = Line()
        line._conversation = Conversation(list(self.history[: mark.messages]))
        line._checkpoints = self._checkpoints[:index]
        line._marks = self._marks[:index]
        line._ids = {checkpoint.id for checkpoint in line._checkpoints}
        line._late = [(min(offset, mark.offset), late) for offset, late in self._late if late.id in line._ids]
        line.token_count = mark.token_count
        line.counted = mark.counted
        line.next_id = self.next_id
        line.parent = self._checkpoints[index].uid
        line.reverts = self.reverts[: mark.reverts]
        return line

    def late_after(self, checkpoint_id: int) -> list[FilesOf]:
        """What lies behind a checkpoint though it is of one before it. Raises ValueError."""
        index = self._index(checkpoint_id)
        before = {checkpoint.id for checkpoint in self._checkpoints[:index]}
        return [
            late for offset, late in self._late if offset > self._marks[index].offset and late.id in before
        ]

    def _index(self, checkpoint_id: int) -> int:
        if checkpoint_id in self._ids:
            for index in range(len(self._checkpoints) - 1, -1, -1):
                if self._checkpoints[index].id == checkpoint_id:
                    return index
        raise ValueError(f"Checkpoint {checkpoint_id} does not exist on this line of the conversation")

    def _take_files(self, record: FilesOf, offset: int) -> None:
        if record.id in self._ids:
            index = self._index(record.id)
            known = self._checkpoints[index]
            self._checkpoints[index] = replace(known, files=record.files or None, changes=record.changes)
            self._late.append((offset, record))

    def _take_message(self, message: Message, number: int) -> None:
        if message.role == "tool":
            if not self._conversation.answer(message):
                self.find("stray_result", number)
            return
        if message.role != "assistant" or self.step is None:
            self.settle()
        step = self.step
        self._put(message, number)
        self._superseded = step

    def _put(self, message: Message, number: int) -> None:
        if message.role == "tool":
            self._conversation.answer(message)
            return
        self._conversation.say(message)
        self._superseded = None
        self._said_in = number
        self.step = None

    def _take_pending(self, note: Pending, number: int) -> None:
        if role_of(note.data) == "assistant":
            self.settle()
            self.step = OpenStep(note, number)
        elif self.step is not None and role_of(note.data) == "tool":
            self.step.note(note)

    def _noted_results(self) -> Sequence[Message]:
        return self._superseded.results if self._superseded is not None else ()

    def _take_checkpoint(self, checkpoint: Checkpoint, offset: int, number: int) -> None:
        self.settle()
        if checkpoint.id in self._ids:
            self.find("repeated_checkpoint", number, str(checkpoint.id))
            return
        if checkpoint.parent is None and self.parent is not None:
            checkpoint = replace(checkpoint, parent=self.parent)
        self._ids.add(checkpoint.id)
        self._checkpoints.append(checkpoint)
        self._marks.append(Mark(offset, len(self.history), self.token_count, self.counted, len(self.reverts)))
        self.next_id = max(self.next_id, checkpoint.id + 1)
        self.parent = checkpoint.uid


def _answered_by(result: Message, missing: Iterable[Message]) -> Message:
    for message in missing:
        if message.tool_call_id == result.tool_call_id:
            return message
    raise ValueError(f"no call awaits a result for {result.tool_call_id!r}")
