"""Text output: the response as it streams on stdout, and one line for each tool call on stderr."""

from typing import Any

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.json_lines import dump_json_line
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.output_stream import OutputStream
from kimi_tui.base.text_sanitizer import StreamSanitizer
from kimi_tui.headless.response_assembler import ResponseAssembler
from kimi_tui.headless.stderr_notices import StderrNotices
from kimi_tui.headless.tool_summary import summarize_call
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import (
    BtwEnd,
    CompactionBegin,
    Event,
    PlanDisplay,
    SessionInfo,
    StepBegin,
    StepRetry,
    ToolResult,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest

_ORDER_WAIT_S = 0.2
"""How long a line on stderr waits for preceding text, so that a terminal shows them in order."""


class TextPrinter:
    """Prints responses without escape sequences, whatever stdout is."""

    def __init__(
        self, out: OutputStream, notices: StderrNotices, *, final_only: bool, structured: bool = False
    ) -> None:
        self._out = out
        self._notices = notices
        self._final_only = final_only or structured
        self._structured = structured
        """Whether to print only the structured output of the result."""
        self._response = ResponseAssembler()
        self._sanitizer = StreamSanitizer()
        self._in_line = False
        self._denied: set[str] = set()
        """Ids of calls that were denied here and already reported. Their results are skipped."""

    async def begin(self, info: SessionInfo) -> None:
        """Do nothing."""

    async def show(self, event: Outgoing) -> None:
        """Process an event."""
        match event:
            case StepBegin():
                await self._end_line()
                self._response = ResponseAssembler()
            case TextPart(text=text):
                self._response.add(event)
                if not self._final_only:
                    await self._print(self._sanitizer.feed(text))
            case ToolCall() | ToolCallPart():
                self._response.add(event)
            case ToolResult(tool_call_id=call_id, return_value=result):
                call = self._response.calls.get(call_id)
                if call is not None and call_id not in self._denied:
                    await self._print_notice(summarize_call(call.call.function.name, call.text, result))
            case StepRetry():
                await self._before_notice()
                await self._notices.report_event(event)
                if self._response.text and not self._final_only:
                    await self._notices.write_line("Ignore the partial response above.")
                self._response = ResponseAssembler()
            case PlanDisplay(content=content) | BtwEnd(response=str(content)):
                await self._end_line()
                await self._print(self._sanitizer.feed(f"{content.strip()}\n"))
            case TurnEnd(outcome=outcome):
                if self._final_only and not self._structured and outcome == "finished":
                    await self._print(self._sanitizer.feed(self._response.text))
                await self._end_line()
            case ApprovalRequest(tool_call_id=call_id):
                self._denied.add(call_id)
                await self._before_notice()
                await self._notices.report_event(event)
            case CompactionBegin():
                await self._before_notice()
                await self._notices.report_event(event)
            case _:
                await self._notices.report_event(event)

    async def reply(self, event: Event, text: str) -> None:
        """Print the reply to a command."""
        await self._end_line()
        await self._print(self._sanitizer.feed(f"{text}\n"))
        await self._end_line()

    async def finish(self, result: dict[str, Any]) -> None:
        """End the output, with the structured output if there is one."""
        await self._end_line()
        if "structured_output" in result:
            await self._out.write(dump_json_line(result["structured_output"]))

    async def _print(self, text: str) -> None:
        if text:
            await self._out.write(text)
            self._in_line = not text.endswith("\n")

    async def _end_line(self) -> None:
        await self._print(self._sanitizer.flush())
        if self._in_line:
            await self._print("\n")

    async def _print_notice(self, line: str) -> None:
        await self._before_notice()
        await self._notices.write_line(line)

    async def _before_notice(self) -> None:
        await self._end_line()
        await self._out.flush(within_s=_ORDER_WAIT_S)
