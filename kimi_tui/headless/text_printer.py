"""Output as text: the assistant's words as they stream, tool calls one line each on stderr."""

from typing import Any

from kimi_tui.base.content import TextPart
from kimi_tui.base.json_line import json_line
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.output import Output
from kimi_tui.headless.plain_stream import PlainStream
from kimi_tui.headless.remarks import Remarks
from kimi_tui.headless.step_answer import StepAnswer
from kimi_tui.headless.tool_line import tool_line
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
"""How long a line on stderr waits for the text before it, so that they stand in order on a terminal."""


class TextPrinter:
    """Escape sequences in the words never get through, whatever stdout is."""

    def __init__(self, out: Output, remarks: Remarks, *, final_only: bool, structured: bool = False) -> None:
        self._out = out
        self._remarks = remarks
        self._final_only = final_only or structured
        self._structured = structured
        """Whether the result's structured output is all that is printed."""
        self._answer = StepAnswer()
        self._plain = PlainStream()
        self._in_line = False
        self._denied: set[str] = set()
        """Calls that were denied here, which has been said; their results say nothing new."""

    async def begin(self, info: SessionInfo) -> None:
        """The session is open."""

    async def show(self, event: Outgoing) -> None:
        """Something happened."""
        match event:
            case StepBegin():
                await self._end_line()
                self._answer = StepAnswer()
            case TextPart(text=text):
                self._answer.add(event)
                if not self._final_only:
                    await self._print(self._plain.feed(text))
            case ToolCall() | ToolCallPart():
                self._answer.add(event)
            case ToolResult(tool_call_id=call_id, return_value=result):
                call = self._answer.calls.get(call_id)
                if call is not None and call_id not in self._denied:
                    await self._remark(tool_line(call.call.function.name, call.text, result))
            case StepRetry():
                await self._before_remark()
                await self._remarks.on(event)
                if self._answer.text and not self._final_only:
                    await self._remarks.say("What was printed of the failed answer doesn't count.")
                self._answer = StepAnswer()
            case PlanDisplay(content=content) | BtwEnd(response=str(content)):
                await self._end_line()
                await self._print(self._plain.feed(f"{content.strip()}\n"))
            case TurnEnd(outcome=outcome):
                if self._final_only and not self._structured and outcome == "finished":
                    await self._print(self._plain.feed(self._answer.text))
                await self._end_line()
            case ApprovalRequest(tool_call_id=call_id):
                self._denied.add(call_id)
                await self._before_remark()
                await self._remarks.on(event)
            case CompactionBegin():
                await self._before_remark()
                await self._remarks.on(event)
            case _:
                await self._remarks.on(event)

    async def reply(self, event: Event, text: str) -> None:
        """A command was answered."""
        await self._end_line()
        await self._print(self._plain.feed(f"{text}\n"))
        await self._end_line()

    async def finish(self, result: dict[str, Any]) -> None:
        """It is over."""
        await self._end_line()
        if "structured_output" in result:
            await self._out.write(json_line(result["structured_output"]))

    async def _print(self, text: str) -> None:
        if text:
            await self._out.write(text)
            self._in_line = not text.endswith("\n")

    async def _end_line(self) -> None:
        await self._print(self._plain.flush())
        if self._in_line:
            await self._print("\n")

    async def _remark(self, line: str) -> None:
        await self._before_remark()
        await self._remarks.say(line)

    async def _before_remark(self) -> None:
        await self._end_line()
        await self._out.settle(within_s=_ORDER_WAIT_S)
