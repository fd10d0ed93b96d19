"""Messages of the conversation, as stored in the journal and passed to providers.

The JSON shape is that of `docs/formats.md`: `{"role", "content", "tool_calls"?, "tool_call_id"?}`.
"""

from typing import Annotated, Any, Literal

from kimi_tui.base.content_parts import ContentPart, as_parts, text_of
from kimi_tui.base.frozen import frozen
from kimi_tui.base.pydantic_markers import LazyBeforeValidator

Role = Literal["user", "assistant", "tool", "system"]


@frozen
class FunctionCall:
    """Name and arguments of a tool call. `arguments` is JSON text as the model wrote it."""

    name: str
    arguments: str | None = None


@frozen
class ToolCall:
    """A model's request to run a tool.

    `extras` has provider-specific fields, which are sent back unchanged.
    """

    id: str
    function: FunctionCall
    type: Literal["function"] = "function"
    extras: dict[str, Any] | None = None


@frozen
class ToolCallPart:
    """A fragment of the arguments of the last ToolCall, or of `tool_call_id` when calls interleave."""

    arguments_part: str | None = None
    tool_call_id: str | None = None


@frozen
class Message:
    """A message. In memory the content is always parts; on disk it can be a string."""

    role: Role
    content: Annotated[
        tuple[ContentPart, ...], LazyBeforeValidator(lambda value: _normalize_content(value))
    ] = ()
    tool_calls: tuple[ToolCall, ...] | None = None
    tool_call_id: str | None = None
    steer: Literal[True] | None = None
    """Whether the user sent the message to a running turn."""
    typed: str | None = None
    """The command typed by the user that the program expanded to this message."""

    @property
    def text(self) -> str:
        """The joined text parts."""
        return text_of(self.content)


def user_message(content: str | tuple[ContentPart, ...], *, typed: str | None = None) -> Message:
    """Return a message from the user, or from the program in the user's role.

    `typed` is the command that was expanded to `content`, if any.
    """
    return Message("user", as_parts(content), typed=typed)


def steer_message(content: str | tuple[ContentPart, ...]) -> Message:
    """Return a message that the user sends to the running turn."""
    return Message("user", as_parts(content), steer=True)


def _normalize_content(value: Any) -> Any:
    if value is None:
        return ()
    if isinstance(value, str):
        return as_parts(value)
    return value
