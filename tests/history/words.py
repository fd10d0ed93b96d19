"""Short ways to write messages, and to tell what a context holds."""

from collections.abc import Sequence
from pathlib import Path

from kimi_tui.base.content import TextPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall
from kimi_tui.history.context import Context


def says(text: str) -> Message:
    """What the model says."""
    return Message("assistant", (TextPart(text),))


def asks(text: str, *calls: str) -> Message:
    """What the model says, with calls of tools by their ids."""
    return Message(
        "assistant", (TextPart(text),), tuple(ToolCall(call, FunctionCall("Bash", "{}")) for call in calls)
    )


def gives(call: str, text: str) -> Message:
    """A tool's result."""
    return Message("tool", (TextPart(text),), tool_call_id=call)


def said(context: Context) -> list[str]:
    """The texts of the history."""
    return [message.text for message in context.history]


async def reopened(context_file: Path) -> Context:
    """A new context with what the file holds."""
    context = Context(context_file)
    await context.restore()
    return context


def assert_sendable(messages: Sequence[Message]) -> None:
    """Each call is answered once, in order, right after its message; nothing else is an answer."""
    awaited: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert awaited, f"{message.text!r} answers nothing"
            assert awaited.pop(0) == message.tool_call_id
        else:
            assert not awaited, f"{awaited} are not answered before {message.text!r}"
            awaited = [call.id for call in message.tool_calls or ()]
    assert not awaited, f"{awaited} are not answered at the end"
