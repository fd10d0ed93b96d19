"""A step's answer, put together from the fragments that streamed."""

from dataclasses import dataclass, field

from kimi_tui.base.content import ContentPart, merged, text_of
from kimi_tui.base.message import ToolCall, ToolCallPart


@dataclass(slots=True)
class OpenCall:
    """A tool call whose arguments are coming in."""

    call: ToolCall
    arguments: list[str]

    @property
    def text(self) -> str:
        """The arguments so far, as JSON text."""
        return "".join(self.arguments)


@dataclass(slots=True)
class StepAnswer:
    """What the model has said and asked for in this step."""

    parts: list[ContentPart] = field(default_factory=list)
    calls: dict[str, OpenCall] = field(default_factory=dict)

    def add(self, fragment: ContentPart | ToolCall | ToolCallPart) -> None:
        """Take a fragment in."""
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
        """What was said, adjacent fragments joined."""
        return merged(self.parts)

    @property
    def text(self) -> str:
        """The text of what was said."""
        return text_of(self.parts)
