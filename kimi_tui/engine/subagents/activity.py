"""What a sub-agent in the background does, as lines in its task's output."""

from collections.abc import Callable

from kimi_tui.base.call_arguments import Arguments
from kimi_tui.base.content import TextPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.tools.background.work import RunningTask
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.events import (
    CostUpdate,
    Event,
    Notification,
    StatusUpdate,
    StepBegin,
    StepRetry,
    ToolResult,
)


class Activity:
    """Takes a sub-agent's events. What the session has used is told as the session's own."""

    def __init__(self, running: RunningTask, send: Callable[[Event], None]) -> None:
        self._running = running
        self._send = send
        self._text: list[str] = []
        self._calls: dict[str, tuple[str, Arguments]] = {}
        self._last = ""
        """The id of the call whose arguments stream."""

    def __call__(self, event: Event, /) -> None:
        """Write down what `event` tells."""
        match event:
            case TextPart(text=text):
                self._text.append(text)
            case ToolCall(id=call_id, function=function):
                self.settle()
                self._calls[call_id] = (function.name, Arguments(function.arguments))
                self._last = call_id
                self._running.is_doing(f"{function.name} {self._calls[call_id][1].telling()}")
            case ToolCallPart(arguments_part=part, tool_call_id=call_id):
                if known := self._calls.get(call_id or self._last):
                    known[1].feed(part or "")
            case ToolResult():
                self._end_call(event)
            case StepRetry():
                self._text.clear()
                self._calls.clear()
            case StepBegin(n=n):
                self.settle()
                self._running.is_doing(f"step {n}")
            case StatusUpdate(session_usage=usage):
                self._send(StatusUpdate(session_usage=usage))
            case CostUpdate() | Notification():
                self._send(event)
            case _:
                pass

    def settle(self) -> None:
        """Write what was said so far."""
        text = plain("".join(self._text)).strip()
        self._text.clear()
        if text:
            self._running.write(f"{text}\n\n")

    def _end_call(self, result: ToolResult) -> None:
        name, arguments = self._calls.pop(result.tool_call_id, ("a tool", Arguments()))
        value = result.return_value
        brief = next((it.text for it in value.display if isinstance(it, BriefBlock)), "")
        mark = "✗" if value.is_error else "✔"
        line = plain_line(f"{mark} {name} {arguments.telling()}".rstrip())
        self._running.write(f"{line}{f' · {plain_line(brief)}' if brief else ''}\n")
