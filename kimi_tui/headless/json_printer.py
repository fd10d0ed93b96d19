"""Output as one JSON object: the result, with the final text in it."""

from typing import Any

from kimi_tui.base.content import TextPart
from kimi_tui.base.json_line import json_line
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.output import Output
from kimi_tui.headless.remarks import Remarks
from kimi_tui.headless.step_answer import StepAnswer
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import encode
from kimi_tui.wire.events import BtwEnd, Event, SessionInfo, StepBegin, StepRetry


class JsonPrinter:
    """Keeps the last step's words until the end."""

    def __init__(self, out: Output, remarks: Remarks) -> None:
        self._out = out
        self._remarks = remarks
        self._answer = StepAnswer()
        self._replies: list[dict[str, Any]] = []

    async def begin(self, info: SessionInfo) -> None:
        """The session is open."""

    async def show(self, event: Outgoing) -> None:
        """Something happened."""
        match event:
            case StepBegin() | StepRetry():
                self._answer = StepAnswer()
            case TextPart() | ToolCall() | ToolCallPart():
                self._answer.add(event)
            case BtwEnd(response=str(response)):
                self._answer = StepAnswer()
                self._answer.add(TextPart(response))
        await self._remarks.on(event)

    async def reply(self, event: Event, text: str) -> None:
        """A command was answered: the result has the event."""
        self._replies.append(encode(event))

    async def finish(self, result: dict[str, Any]) -> None:
        """It is over."""
        answer, self._answer = self._answer, StepAnswer()
        replies, self._replies = self._replies, []
        told = {"replies": replies} if replies else {}
        await self._out.write(json_line({**result, **told, "result": answer.text}))
