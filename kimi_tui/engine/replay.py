"""A resumed conversation as events: what a front end shows of what was said before."""

from collections.abc import Iterator, Mapping, Sequence

from kimi_tui.base.compacted import is_summary, summary_text
from kimi_tui.base.content import TextPart, UserInput, is_system_note
from kimi_tui.base.message import Message
from kimi_tui.tools.step_calls import result_content
from kimi_tui.wire.events import Event, Notification, StepBegin, ToolResult, ToolReturn, TurnBegin, TurnEnd

NOT_HERE = "…"
"""Stands for what the user said in a turn whose begin is no longer in the conversation."""


def replayed(history: Sequence[Message], results: Mapping[str, Sequence[ToolReturn]]) -> Iterator[Event]:
    """The events of `history`. A result that `results`, the recorded ones, lack is read off its message.

    An id may have several results: a call that was taken back may share it. The program's own notes to the
    model are left out; the summary of what was compacted is a notification.
    """
    in_turn = False
    step = 0
    for number, message in enumerate(history):
        match message.role:
            case "user" if is_summary(message):
                if in_turn:
                    yield TurnEnd(steps=step)
                in_turn = False
                yield _compaction_notice(message, number)
            case "user" if not is_system_note(message.content):
                if in_turn:
                    yield TurnEnd(steps=step)
                in_turn, step = True, 0
                yield TurnBegin(_shown(message))
            case "assistant":
                if not in_turn:
                    in_turn, step = True, 0
                    yield TurnBegin(NOT_HERE)
                step += 1
                yield StepBegin(step)
                yield from message.content
                yield from message.tool_calls or ()
            case "tool" if message.tool_call_id is not None:
                known = results.get(message.tool_call_id, ())
                yield ToolResult(message.tool_call_id, _recorded(message, known) or _read_off(message))
            case _:
                pass
    if in_turn:
        yield TurnEnd(steps=step)


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
    is_error = note.startswith("ERROR: ")
    return ToolReturn(is_error, tuple(output), note.removeprefix("ERROR: "))
