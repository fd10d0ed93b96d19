"""Deeds: what was done between two checkpoints, in a line for the timeline."""

import json
from collections.abc import Sequence

from kimi_tui.base.message import Message, ToolCall
from kimi_tui.base.terminal import plain_line
from kimi_tui.history.records import Deed

_LENGTH = 80
_NAMED = 3
"""So many calls are named; of the others only how many there are."""
_TELLING = ("command", "path", "file_path", "url", "query", "pattern", "description", "question", "name")
"""Parameters that say what a call is about, the most telling first."""


def deed_of(messages: Sequence[Message]) -> Deed | None:
    """What the model did in `messages`; None when it did not speak."""
    said = [message for message in messages if message.role == "assistant"]
    if not said:
        return None
    calls = [call for message in said for call in message.tool_calls or ()]
    if not calls:
        return Deed(label=plain_line(said[-1].text)[:_LENGTH])
    arguments = [_arguments(call) for call in calls]
    named = [_named(call, given) for call, given in zip(calls[:_NAMED], arguments, strict=False)]
    more = f" and {len(calls) - _NAMED} more" if len(calls) > _NAMED else ""
    return Deed(
        label=f"{', '.join(named)}{more}"[:_LENGTH],
        tools=tuple(call.function.name for call in calls),
        shell=any(isinstance(given.get("command"), str) for given in arguments),
    )


def _named(call: ToolCall, arguments: dict[str, object]) -> str:
    for parameter in _TELLING:
        value = arguments.get(parameter)
        if isinstance(value, str) and value:
            return plain_line(f"{call.function.name} {value}")[:_LENGTH]
    return plain_line(call.function.name)


def _arguments(call: ToolCall) -> dict[str, object]:
    try:
        given = json.loads(call.function.arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}
