"""Replay of a resumed conversation as events."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from kimi_tui.base.compaction_markers import is_summary, summary_text
from kimi_tui.base.content_parts import TextPart, UserInput, is_system_note
from kimi_tui.base.message import Message
from kimi_tui.history.message_history import INTERRUPTED
from kimi_tui.history.records import Checkpoint
from kimi_tui.tools.result_messages import result_content
from kimi_tui.wire.events import (
    Event,
    Notification,
    SteerInput,
    StepBegin,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.timeline import CheckpointCreated, CheckpointKind

MISSING_PROMPT = "…"
"""Placeholder for the prompt of a turn whose beginning is no longer in the conversation."""


CheckpointPositions = Sequence[tuple[int, Checkpoint]]
"""Checkpoints with the number of messages before each, oldest first."""
_BETWEEN_TURNS = {"revert", "clear", "fork", "import"}


def replay_events(
    history: Sequence[Message],
    results: Mapping[str, Sequence[ToolReturn]],
    checkpoint_positions: CheckpointPositions = (),
) -> Iterator[Event]:
    """Yield the events of `history`.

    A result that isn't among the recorded `results` is parsed from its message. A call ID may have several
    results, because a reverted call may have the same ID. The program's notes to the model are omitted. The
    summary of a compaction becomes a notification. A checkpoint event has its original position: right after
    the begin event of its turn or step.
    """
    in_turn = False
    step = 0
    pending = _PendingCheckpoints(checkpoint_positions)
    for number, message in enumerate(history):
        pending.advance_to(number)
        for checkpoint in pending.pop(lambda kind: kind not in {"user", "step"}):
            if in_turn and checkpoint.kind in _BETWEEN_TURNS:
                yield TurnEnd(steps=step)
                in_turn = False
            yield checkpoint_created(checkpoint)
        match message.role:
            case "user" if is_summary(message):
                if in_turn:
                    yield TurnEnd(steps=step)
                in_turn = False
                yield _compaction_notice(message, number)
            case "user" if message.steer and in_turn:
                yield SteerInput(_displayed_input(message))
            case "user" if not is_system_note(message.content):
                yield from map(checkpoint_created, pending.pop(lambda kind: kind == "step"))
                if in_turn:
                    yield TurnEnd(steps=step)
                in_turn, step = True, 0
                yield TurnBegin(_displayed_input(message))
                yield from map(checkpoint_created, pending.pop())
            case "assistant":
                if not in_turn:
                    in_turn, step = True, 0
                    yield TurnBegin(MISSING_PROMPT)
                yield from map(checkpoint_created, pending.pop(lambda kind: kind == "user"))
                step += 1
                yield StepBegin(step)
                yield from map(checkpoint_created, pending.pop())
                yield from message.content
                yield from message.tool_calls or ()
            case "tool" if message.tool_call_id is not None:
                recorded = results.get(message.tool_call_id, ())
                yield ToolResult(
                    message.tool_call_id,
                    _find_recorded_result(message, recorded) or _parse_result_message(message),
                )
            case _:
                pass
    if in_turn:
        yield TurnEnd(steps=step)
    pending.advance_to(len(history))
    yield from map(checkpoint_created, pending.pop())


def checkpoint_created(checkpoint: Checkpoint) -> CheckpointCreated:
    """Return the event for a checkpoint."""
    return CheckpointCreated(
        checkpoint.id,
        checkpoint.uid,
        kind=checkpoint.kind,
        label=checkpoint.label,
        parent=checkpoint.parent,
        files=checkpoint.changes,
        time=checkpoint.time,
        tokens=checkpoint.tokens,
    )


class _PendingCheckpoints:
    """Checkpoints that precede the next message."""

    def __init__(self, checkpoint_positions: CheckpointPositions) -> None:
        self._upcoming = deque(checkpoint_positions)
        self._due: list[Checkpoint] = []

    def advance_to(self, number: int) -> None:
        while self._upcoming and self._upcoming[0][0] <= number:
            self._due.append(self._upcoming.popleft()[1])

    def pop(self, matches: Callable[[CheckpointKind], bool] = lambda _: True) -> Sequence[Checkpoint]:
        if not self._due:
            return ()
        matching = [checkpoint for checkpoint in self._due if matches(checkpoint.kind)]
        self._due = [checkpoint for checkpoint in self._due if not matches(checkpoint.kind)]
        return matching


def _compaction_notice(summary: Message, number: int) -> Notification:
    return Notification(
        id=f"summary-{number}",
        category="session",
        type="compacted",
        source_kind="engine",
        source_id="",
        title="Conversation compacted to this summary:",
        body=summary_text(summary),
    )


def _displayed_input(message: Message) -> UserInput:
    if message.typed is not None:
        return message.typed
    if all(isinstance(part, TextPart) for part in message.content):
        return message.text
    return message.content


def _find_recorded_result(message: Message, results: Sequence[ToolReturn]) -> ToolReturn | None:
    """Return the newest of `results` with the content of `message`."""
    return next((result for result in reversed(results) if result_content(result) == message.content), None)


def _parse_result_message(message: Message) -> ToolReturn:
    note, output = "", []
    for part in message.content:
        if isinstance(part, TextPart) and not note and part.text.startswith("<system>"):
            note = part.text.removeprefix("<system>").removesuffix("</system>")
        else:
            output.append(part)
    is_error = note == INTERRUPTED or note.startswith("ERROR: ")
    return ToolReturn(is_error, tuple(output), note.removeprefix("ERROR: "))
