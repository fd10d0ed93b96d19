"""Tool results as the model reads them."""

from kimi_tui.base.content_parts import ContentPart, as_tool_output, system_note
from kimi_tui.base.message import Message, ToolCall
from kimi_tui.wire.events import ToolReturn


def result_message(call: ToolCall, result: ToolReturn) -> Message:
    """Return the message that gives the model the `result` of `call`."""
    return Message("tool", result_content(result), tool_call_id=call.id)


def result_content(result: ToolReturn) -> tuple[ContentPart, ...]:
    """Return the content the model reads: a `<system>` note, then the output."""
    note = result.message
    if result.is_error:
        note = f"ERROR: {note}"
    elif not note and not result.output:
        note = "The tool returned no output."
    return (*((system_note(note),) if note else ()), *as_tool_output(result.output))


def format_size(n_bytes: int) -> str:
    """Return a size in decimal units, such as `17 bytes`, `3.2 KB` or `1.1 GB`."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return "1 byte" if n_bytes == 1 else f"{n_bytes} bytes"
