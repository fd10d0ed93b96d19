"""A model's answer as it is put together from its stream."""

from kimi_tui.base.content import ContentPart, ImageURLPart, TextPart, ThinkPart, is_blank, merged
from kimi_tui.base.identity import new_id
from kimi_tui.base.message import FunctionCall, Message, ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm.provider import MessageStart, StreamPart
from kimi_tui.soul.call_ids import TakenIds


class AnswerBuilder:
    """Collects the parts of one answer and gives every tool call an id that is not taken yet."""

    def __init__(self, *, taken_ids: TakenIds) -> None:
        self._taken_ids = taken_ids
        self._parts: list[ContentPart] = []
        self._calls: list[tuple[ToolCall, list[str]]] = []
        self._renamed: dict[str, str] = {}
        """The provider's id of a call -> ours."""
        self.usage: TokenUsage | None = None
        self.message_id: str | None = None

    def add(self, part: StreamPart) -> ContentPart | ToolCall | ToolCallPart | None:
        """Take `part` in and return what of it the Wire shows."""
        match part:
            case TextPart() | ThinkPart() | ImageURLPart():
                self._parts.append(part)
                return part
            case ToolCall():
                return self._begin_call(part)
            case ToolCallPart():
                return self._continue_call(part)
            case TokenUsage():
                self.usage = part
                return None
            case MessageStart(message_id=message_id):
                self.message_id = message_id
                return None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said and no tool called: thoughts alone answer nobody."""
        return not self._calls and is_blank(part for part in self._parts if not isinstance(part, ThinkPart))

    def message(self) -> Message:
        """The answer, whole."""
        calls = tuple(
            ToolCall(call.id, FunctionCall(call.function.name, "".join(arguments)), extras=call.extras)
            for call, arguments in self._calls
        )
        return Message("assistant", merged(self._parts), calls or None)

    def partial_message(self) -> Message | None:
        """What was said so far, without tool calls, which have not arrived whole. None when nothing was."""
        parts = tuple(part for part in merged(self._parts) if not is_blank((part,)))
        kept = any(isinstance(part, TextPart | ThinkPart) for part in parts)
        return Message("assistant", parts) if kept else None

    def discard(self) -> None:
        """Nothing comes of it: its calls never were."""
        for call, _ in self._calls:
            self._taken_ids.discard(call.id)

    def _begin_call(self, call: ToolCall) -> ToolCall:
        own_id = call.id
        if not own_id or own_id in self._taken_ids:
            own_id = f"call_{new_id()}"
        self._taken_ids.add(own_id)
        self._renamed[call.id] = own_id
        renamed = ToolCall(own_id, call.function, extras=call.extras)
        self._calls.append((renamed, [call.function.arguments or ""]))
        return renamed

    def _continue_call(self, part: ToolCallPart) -> ToolCallPart | None:
        if not self._calls:
            return None
        if part.tool_call_id is None:
            self._calls[-1][1].append(part.arguments_part or "")
            return part
        own_id = self._renamed.get(part.tool_call_id, part.tool_call_id)
        for call, arguments in self._calls:
            if call.id == own_id:
                arguments.append(part.arguments_part or "")
                return ToolCallPart(part.arguments_part, own_id)
        return None
