"""One-line summary of the work between two checkpoints, for the timeline."""

import json
from collections.abc import Sequence

from kimi_tui.base.message import Message, ToolCall
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.records import StepSummary

_MAX_LABEL_CHARS = 80
_MAX_NAMED_CALLS = 3
"""The label names this many calls; the others are only counted."""
_SUMMARY_PARAMETERS = (
    "command",
    "path",
    "file_path",
    "url",
    "query",
    "pattern",
    "description",
    "question",
    "name",
)
"""Parameters that describe a call best, in order of preference."""


def summarize_step(messages: Sequence[Message]) -> StepSummary | None:
    """Return a summary of the model's work in `messages`; None if they contain no response."""
    responses = [message for message in messages if message.role == "assistant"]
    if not responses:
        return None
    calls = [call for message in responses for call in message.tool_calls or ()]
    if not calls:
        return StepSummary(label=sanitize_line(responses[-1].text)[:_MAX_LABEL_CHARS])
    arguments = [_parse_arguments(call) for call in calls]
    labels = [
        _call_label(call, values) for call, values in zip(calls[:_MAX_NAMED_CALLS], arguments, strict=False)
    ]
    more = (
        msg(" and {rest} more", rest=len(calls) - _MAX_NAMED_CALLS) if len(calls) > _MAX_NAMED_CALLS else ""
    )
    return StepSummary(
        label=f"{', '.join(labels)}{more}"[:_MAX_LABEL_CHARS],
        tools=tuple(call.function.name for call in calls),
        shell=any(isinstance(values.get("command"), str) for values in arguments),
    )


def _call_label(call: ToolCall, arguments: dict[str, object]) -> str:
    for parameter in _SUMMARY_PARAMETERS:
        value = arguments.get(parameter)
        if isinstance(value, str) and value:
            return sanitize_line(f"{call.function.name} {value}")[:_MAX_LABEL_CHARS]
    return sanitize_line(call.function.name)


def _parse_arguments(call: ToolCall) -> dict[str, object]:
    try:
        arguments = json.loads(call.function.arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
