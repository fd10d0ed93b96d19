"""Assembles the response of a step from streamed fragments."""

from dataclasses import dataclass, field

from kimi_tui.base.content_parts import ContentPart, merge_parts, text_of
from kimi_tui.base.message import ToolCall, ToolCallPart


@dataclass(slots=True)
class OpenCall:
    """A tool call whose arguments are still streaming."""

    call: ToolCall
    arguments: list[str]

    @property
    def text(self) -> str:
        """The arguments received so far, as JSON text."""
        return "".join(self.arguments)


@dataclass(slots=True)
class ResponseAssembler:
    """The text and tool calls of a step."""

    parts: list[ContentPart] = field(default_factory=list)
    calls: dict[str, OpenCall] = field(default_factory=dict)

    def add(self, fragment: ContentPart | ToolCall | ToolCallPart) -> None:
        """Add a fragment."""
        match fragment:
            case ToolCall(id=call_id, function=function):
                self.calls[call_id] = OpenCall(fragment, [function.arguments or ""])
            case ToolCallPart(arguments_part=part, tool_call_id=call_id):
                call = self.calls.get(call_id or next(reversed(self.calls), ""))
                if call is not None:
                    call.arguments.append(part or "")
            case _:
                self.parts.append(fragment)

    @property
    def content(self) -> tuple[ContentPart, ...]:
        """The content parts, with adjacent fragments merged."""
        return merge_parts(self.parts)

    @property
    def text(self) -> str:
        """The text of the response."""
        return text_of(self.parts)
