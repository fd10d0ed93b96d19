"""Builder of a model's response from its stream."""

from dataclasses import replace

from kimi_tui.base.content_parts import ContentPart, ImageURLPart, TextPart, ThinkPart, is_blank, merge_parts
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import FunctionCall, Message, ToolCall, ToolCallPart
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.provider import MessageStart, OutputLimitReached, StreamPart
from kimi_tui.soul.call_ids import ReservedIds


class ResponseBuilder:
    """Collects the parts of one response and gives every tool call a unique id."""

    def __init__(self, *, reserved_ids: ReservedIds) -> None:
        self._reserved_ids = reserved_ids
        self._parts: list[ContentPart] = []
        self._calls: list[tuple[ToolCall, list[str]]] = []
        self._new_ids: dict[str, str] = {}
        """Maps the provider's id of a call to the unique id."""
        self.usage: TokenUsage | None = None
        self.message_id: str | None = None
        self.is_cut = False
        """Whether the response reached the model's output limit."""

    def add(self, part: StreamPart) -> ContentPart | ToolCall | ToolCallPart | None:
        """Add `part`. Return the part to send to the Wire, if any."""
        match part:
            case TextPart() | ImageURLPart():
                self._parts.append(part)
                return part
            case ThinkPart():
                self._parts.append(replace(part, calls_before=len(self._calls)) if self._calls else part)
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
            case OutputLimitReached():
                self.is_cut = True
                return None

    @property
    def is_empty(self) -> bool:
        """Whether the response has neither text nor a tool call. Thinking doesn't count."""
        return not self._calls and is_blank(part for part in self._parts if not isinstance(part, ThinkPart))

    def build(self) -> Message:
        """Return the complete response."""
        calls = tuple(
            ToolCall(call.id, FunctionCall(call.function.name, "".join(arguments)), extras=call.extras)
            for call, arguments in self._calls
        )
        return Message("assistant", merge_parts(self._parts), calls or None)

    def build_partial(self) -> Message | None:
        """Return the response so far, without the incomplete tool calls; None without text or thinking."""
        parts = tuple(part for part in merge_parts(self._parts) if not is_blank((part,)))
        has_text = any(isinstance(part, TextPart | ThinkPart) for part in parts)
        return Message("assistant", parts) if has_text else None

    def release_call_ids(self) -> None:
        """Release the ids of the calls, because the response is dropped."""
        for call, _ in self._calls:
            self._reserved_ids.discard(call.id)

    def _begin_call(self, call: ToolCall) -> ToolCall:
        unique_id = call.id
        if not unique_id or unique_id in self._reserved_ids:
            unique_id = f"call_{new_id()}"
        self._reserved_ids.add(unique_id)
        self._new_ids[call.id] = unique_id
        renamed = ToolCall(unique_id, call.function, extras=call.extras)
        self._calls.append((renamed, [call.function.arguments or ""]))
        return renamed

    def _continue_call(self, part: ToolCallPart) -> ToolCallPart | None:
        if not self._calls:
            return None
        if part.tool_call_id is None:
            self._calls[-1][1].append(part.arguments_part or "")
            return part
        unique_id = self._new_ids.get(part.tool_call_id, part.tool_call_id)
        for call, arguments in self._calls:
            if call.id == unique_id:
                arguments.append(part.arguments_part or "")
                return ToolCallPart(part.arguments_part, unique_id)
        return None
