"""Messages of the conversation, in the shape that the journal and every provider start from.

The JSON shape is that of `docs/formats.md`: `{"role", "content", "tool_calls"?, "tool_call_id"?}`.
"""

from typing import Annotated, Any, Literal

from kimi_tui.base.content import ContentPart, as_parts, text_of
from kimi_tui.base.tagged import Prepared
from kimi_tui.base.value import value

Role = Literal["user", "assistant", "tool", "system"]


@value
class FunctionCall:
    """The tool that is called; `arguments` is JSON text as the model wrote it."""

    name: str
    arguments: str | None = None


@value
class ToolCall:
    """A model's request to run a tool. `extras` holds a provider's own fields, sent back unchanged."""

    id: str
    function: FunctionCall
    type: Literal["function"] = "function"
    extras: dict[str, Any] | None = None


@value
class ToolCallPart:
    """A fragment of the arguments of the last ToolCall, or of `tool_call_id` when calls interleave."""

    arguments_part: str | None = None
    tool_call_id: str | None = None


@value
class Message:
    """One message. In memory the content is always parts; on disk it may be a string."""

    role: Role
    content: Annotated[tuple[ContentPart, ...], Prepared(lambda value: _parts_or_json(value))] = ()
    tool_calls: tuple[ToolCall, ...] | None = None
    tool_call_id: str | None = None
    steer: Literal[True] | None = None
    """Whether the user said it to a turn that was running."""
    typed: str | None = None
    """The command that the user typed and that the program made this of."""

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return text_of(self.content)


def user_message(content: str | tuple[ContentPart, ...], *, typed: str | None = None) -> Message:
    """What the user, or the program in their place, says; made of the command that was `typed`, if any."""
    return Message("user", as_parts(content), typed=typed)


def steer_message(content: str | tuple[ContentPart, ...]) -> Message:
    """What the user says to a turn that is running."""
    return Message("user", as_parts(content), steer=True)


def _parts_or_json(value: Any) -> Any:
    if value is None:
        return ()
    if isinstance(value, str):
        return as_parts(value)
    return value
