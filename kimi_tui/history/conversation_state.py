"""State of a conversation's branch, built by applying records in order.

The live context and a restore apply the same records to the same class, so the state in memory is always what
a restore would produce.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.history.message_history import MessageHistory, interrupted_result
from kimi_tui.history.pending_step import PendingStep
from kimi_tui.history.record_codec import role_of
from kimi_tui.history.records import (
    Checkpoint,
    FileStateRecord,
    IgnoredRecord,
    PendingRecord,
    Record,
    RepairRecord,
    RevertRecord,
    SystemPrompt,
    UsageRecord,
)
from kimi_tui.history.repair_report import FindingKind, RepairFinding
from kimi_tui.history.token_estimate import RunningTokenEstimate


@frozen
class CheckpointPosition:
    """Position of a checkpoint in the file and in the history, with the counts at that point."""

    offset: int
    """Where its record starts, in bytes after the system prompt's line."""
    messages: int
    """Number of messages before it."""
    token_count: int
    n_counted: int
    reverts: int


class ConversationState:
    """The messages, checkpoints and counts of one branch."""

    def __init__(self) -> None:
        self._history = MessageHistory()
        self._checkpoints: list[Checkpoint] = []
        self._positions: list[CheckpointPosition] = []
        self._ids: set[int] = set()
        self._late_records: list[tuple[int, FileStateRecord]] = []
        """File state records that were written after other checkpoints, with their offsets."""
        self._previous_step: PendingStep | None = None
        """Pending records of the newest step, used for its results if its final write was truncated."""
        self._message_line = 0
        self._findings: list[RepairFinding] = []
        self._reported: set[tuple[FindingKind, int]] = set()
        self.step: PendingStep | None = None
        self.system_prompt: str | None = None
        self.token_count = 0
        self.n_counted = 0
        """Number of messages covered by `token_count`."""
        self._uncounted_estimate = RunningTokenEstimate()
        self.next_id = 0
        self.parent: str | None = None
        """The uid of the next checkpoint's parent."""
        self.reverts: list[RevertRecord] = []

    @property
    def history(self) -> Sequence[Message]:
        """The messages."""
        return self._history.messages

    @property
    def token_count_with_pending(self) -> int:
        """`token_count` plus an estimate for the messages that it doesn't cover."""
        return self.token_count + self._uncounted_estimate.tokens(
            self.history, start=self.n_counted, n_settled=self._history.n_settled
        )

    @property
    def checkpoints(self) -> Sequence[Checkpoint]:
        """The checkpoints, oldest first."""
        return self._checkpoints

    @property
    def positions(self) -> Sequence[CheckpointPosition]:
        """The positions of the checkpoints, oldest first."""
        return self._positions

    @property
    def indexed_checkpoints(self) -> list[tuple[int, Checkpoint]]:
        """The checkpoints, each with the number of messages before it, oldest first."""
        counts = (position.messages for position in self._positions)
        return list(zip(counts, self._checkpoints, strict=True))

    @property
    def messages_since_checkpoint(self) -> Sequence[Message]:
        """The messages since the newest checkpoint; empty if there are no checkpoints."""
        return self.history[self._positions[-1].messages :] if self._positions else ()

    def has_checkpoint(self, checkpoint_id: int) -> bool:
        """Return whether a checkpoint is on this branch."""
        return checkpoint_id in self._ids

    @property
    def findings(self) -> tuple[RepairFinding, ...]:
        """The problems found, except those that an earlier restore has reported."""
        return tuple(item for item in self._findings if (item.kind, item.line) not in self._reported)

    def position_of(self, checkpoint_id: int) -> CheckpointPosition:
        """Return the position of a checkpoint. Raises ValueError if it isn't on this branch."""
        return self._positions[self._index_of(checkpoint_id)]

    def add_finding(self, kind: FindingKind, number: int, detail: str = "") -> None:
        """Record a problem in line `number` of the file."""
        self._findings.append(RepairFinding(kind, number, detail))

    def closing_messages(self) -> list[Message]:
        """Return the messages that complete a pending step, or that answer calls without results.

        All of them were recorded, except for results that say a call was interrupted.
        """
        if self.step is not None:
            return self.step.final_messages()
        if not self._history.is_open:
            return []
        return self._history.missing_results(self._pending_results())

    def prepare_messages(self, messages: Iterable[Message]) -> list[Message]:
        """Return `messages` with missing results before and between them, so that every call has a result.

        Raises ValueError for a result that no call awaits.
        """
        missing = self.closing_messages()
        ready: list[Message] = []
        if self.step is not None:
            ready, missing = missing, []
        for message in messages:
            if message.role == "tool":
                missing.remove(_find_result(message, missing))
            else:
                ready += missing
                missing = [interrupted_result(call) for call in message.tool_calls or ()]
            ready.append(message)
        return ready

    def close_open_step(self) -> None:
        """Append `closing_messages()` and record a finding if there are any."""
        if self.step is not None:
            self.add_finding("interrupted_step", self.step.number)
        elif not self._history.is_open:
            return
        else:
            done = {result.tool_call_id for result in self._pending_results()}
            names = [call.function.name for call in self._history.pending_calls if call.id not in done]
            kind: FindingKind = "unanswered_call" if names else "interrupted_step"
            self.add_finding(kind, self._message_line, ", ".join(names))
        number = self.step.number if self.step is not None else self._message_line
        for message in self.closing_messages():
            self._append(message, number)
        self.step = None

    def apply(self, record: Record, *, offset: int = 0, number: int = 0) -> None:
        """Apply `record`, which is `offset` bytes after the system prompt, in line `number` of the file."""
        match record:
            case Message():
                self._apply_message(record, number)
            case Checkpoint():
                self._apply_checkpoint(record, offset, number)
            case FileStateRecord():
                self._apply_files(record, offset)
            case UsageRecord(token_count=token_count):
                self.token_count = token_count
                self.n_counted = len(self.history)
            case PendingRecord():
                self._apply_pending(record, number)
            case SystemPrompt(content=content):
                self.system_prompt = content if self.system_prompt is None else self.system_prompt
            case RevertRecord():
                self.close_open_step()
                self.next_id = max(self.next_id, record.next_id)
                self.parent = record.parent or self.parent
                self.reverts.append(record)
            case RepairRecord():
                self._reported.update((item.kind, item.line) for item in record.found)
                self.next_id = max(self.next_id, record.next_id)
            case IgnoredRecord():
                pass
            case _:
                assert_never(record)

    def state_before(self, checkpoint_id: int) -> "ConversationState":
        """Return the state just before a checkpoint, without the system prompt.

        Raises ValueError if the checkpoint isn't on this branch.
        """
        index = self._index_of(checkpoint_id)
        position = self._positions[index]
        state = ConversationState()
        state._history = MessageHistory(list(self.history[: position.messages]))
        state._checkpoints = self._checkpoints[:index]
        state._positions = self._positions[:index]
        state._ids = {checkpoint.id for checkpoint in state._checkpoints}
        state._late_records = [
            (min(offset, position.offset), late)
            for offset, late in self._late_records
            if late.id in state._ids
        ]
        state.token_count = position.token_count
        state.n_counted = position.n_counted
        state.next_id = self.next_id
        state.parent = self._checkpoints[index].uid
        state.reverts = self.reverts[: position.reverts]
        return state

    def late_records_after(self, checkpoint_id: int) -> list[FileStateRecord]:
        """Return the file state records that follow a checkpoint but belong to earlier ones.

        Raises ValueError if the checkpoint isn't on this branch.
        """
        index = self._index_of(checkpoint_id)
        before = {checkpoint.id for checkpoint in self._checkpoints[:index]}
        return [
            late
            for offset, late in self._late_records
            if offset > self._positions[index].offset and late.id in before
        ]

    def _index_of(self, checkpoint_id: int) -> int:
        if checkpoint_id in self._ids:
            for index in range(len(self._checkpoints) - 1, -1, -1):
                if self._checkpoints[index].id == checkpoint_id:
                    return index
        raise ValueError(f"Checkpoint {checkpoint_id} doesn't exist on this branch")

    def _apply_files(self, record: FileStateRecord, offset: int) -> None:
        if record.id in self._ids:
            index = self._index_of(record.id)
            known = self._checkpoints[index]
            self._checkpoints[index] = replace(known, files=record.files or None, changes=record.changes)
            self._late_records.append((offset, record))

    def _apply_message(self, message: Message, number: int) -> None:
        if message.role == "tool":
            if not self._history.add_result(message):
                self.add_finding("stray_result", number)
                self._history.hold_early_result(message)
            return
        if self._history.repeats_unanswered(message):
            return
        if message.role != "assistant" or self.step is None:
            self.close_open_step()
        step = self.step
        self._append(message, number)
        self._previous_step = step

    def _append(self, message: Message, number: int) -> None:
        if message.role == "tool":
            self._history.add_result(message)
            return
        self._history.append(message)
        self._previous_step = None
        self._message_line = number
        self.step = None

    def _apply_pending(self, record: PendingRecord, number: int) -> None:
        if role_of(record.data) == "assistant":
            self.close_open_step()
            self.step = PendingStep(record, number)
        elif self.step is not None and role_of(record.data) == "tool":
            self.step.add_result(record)

    def _pending_results(self) -> Sequence[Message]:
        return self._previous_step.results if self._previous_step is not None else ()

    def _apply_checkpoint(self, checkpoint: Checkpoint, offset: int, number: int) -> None:
        self.close_open_step()
        if checkpoint.id in self._ids:
            self.add_finding("repeated_checkpoint", number, str(checkpoint.id))
            return
        if checkpoint.parent is None and self.parent is not None:
            checkpoint = replace(checkpoint, parent=self.parent)
        self._ids.add(checkpoint.id)
        self._checkpoints.append(checkpoint)
        self._positions.append(
            CheckpointPosition(offset, len(self.history), self.token_count, self.n_counted, len(self.reverts))
        )
        self.next_id = max(self.next_id, checkpoint.id + 1)
        self.parent = checkpoint.uid


def _find_result(result: Message, missing: Iterable[Message]) -> Message:
    for message in missing:
        if message.tool_call_id == result.tool_call_id:
            return message
    raise ValueError(f"no call awaits a result for {result.tool_call_id!r}")
