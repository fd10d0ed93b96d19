"""Helpers to build messages and to inspect contexts."""

from collections.abc import Sequence
from pathlib import Path

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall
from kimi_tui.history.context import Context


def assistant_message(text: str) -> Message:
    """Return a response of the model."""
    return Message("assistant", (TextPart(text),))


def assistant_calls(text: str, *calls: str) -> Message:
    """Return a response of the model with tool calls, given by their ids."""
    return Message(
        "assistant", (TextPart(text),), tuple(ToolCall(call, FunctionCall("Bash", "{}")) for call in calls)
    )


def tool_result(call: str, text: str) -> Message:
    """Return the result of a tool call."""
    return Message("tool", (TextPart(text),), tool_call_id=call)


def history_texts(context: Context) -> list[str]:
    """Return the texts of the history."""
    return [message.text for message in context.history]


async def reopen(context_file: Path) -> Context:
    """Return a new context restored from the file."""
    context = Context(context_file)
    await context.restore()
    return context


def assert_sendable(messages: Sequence[Message]) -> None:
    """Assert that each call has one result, right after its message and in order, and nothing else has."""
    awaited: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert awaited, f"{message.text!r} answers no call"
            assert awaited.pop(0) == message.tool_call_id
        else:
            assert not awaited, f"{awaited} have no results before {message.text!r}"
            awaited = [call.id for call in message.tool_calls or ()]
    assert not awaited, f"{awaited} have no results at the end"
