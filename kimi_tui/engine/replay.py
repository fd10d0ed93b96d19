"""A resumed conversation as events: what a front end shows of what was said before."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from kimi_tui.base.compacted import is_summary, summary_text
from kimi_tui.base.content import TextPart, UserInput, is_system_note
from kimi_tui.base.message import Message
from kimi_tui.history.conversation import INTERRUPTED
from kimi_tui.history.records import Checkpoint
from kimi_tui.tools.results import result_content
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

NOT_HERE = "…"
"""Stands for what the user said in a turn whose begin is no longer in the conversation."""


Marked = Sequence[tuple[int, Checkpoint]]
"""Checkpoints with how many messages lie before each, oldest first."""
_BETWEEN_TURNS = {"revert", "clear", "fork", "import"}


def replayed(
    history: Sequence[Message], results: Mapping[str, Sequence[ToolReturn]], marked: Marked = ()
) -> Iterator[Event]:
    """The events of `history`. A result that `results`, the recorded ones, lack is read off its message.

    An id may have several results: a call that was taken back may share it. The program's own notes to the
    model are left out; the summary of what was compacted is a notification. A checkpoint comes where it came
    at the time: right after the begin of the turn or step that it stands before.
    """
    in_turn = False
    step = 0
    due = _Due(marked)
    for number, message in enumerate(history):
        due.reach(number)
        for checkpoint in due.take(lambda kind: kind not in {"user", "step"}):
            if in_turn and checkpoint.kind in _BETWEEN_TURNS:
                yield TurnEnd(steps=step)
                in_turn = False
            yield created(checkpoint)
        match message.role:
            case "user" if is_summary(message):
                if in_turn:
                    yield TurnEnd(steps=step)
                in_turn = False
                yield _compaction_notice(message, number)
            case "user" if message.steer and in_turn:
                yield SteerInput(_shown(message))
            case "user" if not is_system_note(message.content):
                yield from map(created, due.take(lambda kind: kind == "step"))
                if in_turn:
                    yield TurnEnd(steps=step)
                in_turn, step = True, 0
                yield TurnBegin(_shown(message))
                yield from map(created, due.take())
            case "assistant":
                if not in_turn:
                    in_turn, step = True, 0
                    yield TurnBegin(NOT_HERE)
                yield from map(created, due.take(lambda kind: kind == "user"))
                step += 1
                yield StepBegin(step)
                yield from map(created, due.take())
                yield from message.content
                yield from message.tool_calls or ()
            case "tool" if message.tool_call_id is not None:
                known = results.get(message.tool_call_id, ())
                yield ToolResult(message.tool_call_id, _recorded(message, known) or _read_off(message))
            case _:
                pass
    if in_turn:
        yield TurnEnd(steps=step)
    due.reach(len(history))
    yield from map(created, due.take())


def created(checkpoint: Checkpoint) -> CheckpointCreated:
    """What front ends are told of a checkpoint."""
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


class _Due:
    """The checkpoints that stand before what comes next."""

    def __init__(self, marked: Marked) -> None:
        self._left = deque(marked)
        self._waiting: list[Checkpoint] = []

    def reach(self, number: int) -> None:
        while self._left and self._left[0][0] <= number:
            self._waiting.append(self._left.popleft()[1])

    def take(self, wanted: Callable[[CheckpointKind], bool] = lambda _: True) -> Sequence[Checkpoint]:
        if not self._waiting:
            return ()
        taken = [checkpoint for checkpoint in self._waiting if wanted(checkpoint.kind)]
        self._waiting = [checkpoint for checkpoint in self._waiting if not wanted(checkpoint.kind)]
        return taken


def _compaction_notice(summary: Message, number: int) -> Notification:
    return Notification(
        id=f"summary-{number}",
        category="session",
        type="compacted",
        source_kind="engine",
        source_id="",
        title="What was said before was compacted to this:",
        body=summary_text(summary),
    )


def _shown(message: Message) -> UserInput:
    if message.typed is not None:
        return message.typed
    if all(isinstance(part, TextPart) for part in message.content):
        return message.text
    return message.content


def _recorded(message: Message, results: Sequence[ToolReturn]) -> ToolReturn | None:
    """The newest of `results` that `message` tells of."""
    return next((result for result in reversed(results) if result_content(result) == message.content), None)


def _read_off(message: Message) -> ToolReturn:
    note, output = "", []
    for part in message.content:
        if isinstance(part, TextPart) and not note and part.text.startswith("<system>"):
            note = part.text.removeprefix("<system>").removesuffix("</system>")
        else:
            output.append(part)
    is_error = note == INTERRUPTED or note.startswith("ERROR: ")
    return ToolReturn(is_error, tuple(output), note.removeprefix("ERROR: "))
