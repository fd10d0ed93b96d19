"""Results of tool calls as the model reads them."""

from kimi_tui.base.content import ContentPart, as_output, system_note
from kimi_tui.base.message import Message, ToolCall
from kimi_tui.wire.events import ToolReturn


def result_message(call: ToolCall, result: ToolReturn) -> Message:
    """`result` as the model reads it."""
    return Message("tool", result_content(result), tool_call_id=call.id)


def result_content(result: ToolReturn) -> tuple[ContentPart, ...]:
    """What the model reads of `result`: a `<system>` note, then the output."""
    note = result.message
    if result.is_error:
        note = f"ERROR: {note}"
    elif not note and not result.output:
        note = "The tool gave no output."
    return (*((system_note(note),) if note else ()), *as_output(result.output))
