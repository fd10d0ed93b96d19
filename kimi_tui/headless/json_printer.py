"""JSON output: one object, the result with the final text in it."""

from typing import Any

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.json_lines import dump_json_line
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.output_stream import OutputStream
from kimi_tui.headless.response_assembler import ResponseAssembler
from kimi_tui.headless.stderr_notices import StderrNotices
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import encode
from kimi_tui.wire.events import BtwEnd, Event, SessionInfo, StepBegin, StepRetry


class JsonPrinter:
    """Collects the response of the last step until the end."""

    def __init__(self, out: OutputStream, notices: StderrNotices) -> None:
        self._out = out
        self._notices = notices
        self._response = ResponseAssembler()
        self._replies: list[dict[str, Any]] = []

    async def begin(self, info: SessionInfo) -> None:
        """Do nothing."""

    async def show(self, event: Outgoing) -> None:
        """Process an event."""
        match event:
            case StepBegin() | StepRetry():
                self._response = ResponseAssembler()
            case TextPart() | ToolCall() | ToolCallPart():
                self._response.add(event)
            case BtwEnd(response=str(response)):
                self._response = ResponseAssembler()
                self._response.add(TextPart(response))
        await self._notices.report_event(event)

    async def reply(self, event: Event, text: str) -> None:
        """Add the event to the result's replies."""
        self._replies.append(encode(event))

    async def finish(self, result: dict[str, Any]) -> None:
        """Write the result."""
        response, self._response = self._response, ResponseAssembler()
        replies, self._replies = self._replies, []
        extra = {"replies": replies} if replies else {}
        await self._out.write(dump_json_line({**result, **extra, "result": response.text}))
