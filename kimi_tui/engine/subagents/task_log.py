"""Log of a background sub-agent's actions in the output of its task."""

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.base.tool_arguments import PartialToolArguments
from kimi_tui.tools.background.task_handle import RunningTask
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import (
    CostUpdate,
    Event,
    Notification,
    StatusUpdate,
    StepBegin,
    StepRetry,
    ToolResult,
)


class SubagentTaskLog:
    """Writes a sub-agent's events to the task output. The session's usage is sent to the Wire."""

    def __init__(self, task: RunningTask, sender: EventSender) -> None:
        self._task = task
        self._sender = sender
        self._text: list[str] = []
        self._calls: dict[str, tuple[str, PartialToolArguments]] = {}
        self._last_call_id = ""
        """Id of the call whose arguments are streaming."""

    def send(self, event: Event, /) -> None:
        """Log `event`."""
        match event:
            case TextPart(text=text):
                self._text.append(text)
            case ToolCall(id=call_id, function=function):
                self.flush_text()
                self._calls[call_id] = (function.name, PartialToolArguments(function.arguments))
                self._last_call_id = call_id
                self._task.set_activity(f"{function.name} {self._calls[call_id][1].summary()}")
            case ToolCallPart(arguments_part=part, tool_call_id=call_id):
                if call := self._calls.get(call_id or self._last_call_id):
                    call[1].feed(part or "")
            case ToolResult():
                self._log_result(event)
            case StepRetry():
                self._text.clear()
                self._calls.clear()
            case StepBegin(n=n):
                self.flush_text()
                self._task.set_activity(msg("step {number}", number=n))
            case StatusUpdate(session_usage=usage):
                self._sender.send(StatusUpdate(session_usage=usage))
            case CostUpdate() | Notification():
                self._sender.send(event)
            case _:
                pass

    def flush_text(self) -> None:
        """Write the response text received so far."""
        text = sanitize("".join(self._text)).strip()
        self._text.clear()
        if text:
            self._task.write(f"{text}\n\n")

    def _log_result(self, result: ToolResult) -> None:
        name, arguments = self._calls.pop(result.tool_call_id, ("a tool", PartialToolArguments()))
        value = result.return_value
        brief = next((it.text for it in value.display if isinstance(it, BriefBlock)), "")
        mark = "✗" if value.is_error else "✔"
        line = sanitize_line(f"{mark} {name} {arguments.summary()}".rstrip())
        self._task.write(f"{line}{f' · {sanitize_line(brief)}' if brief else ''}\n")
