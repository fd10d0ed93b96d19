"""Output as JSON lines: kimi-cli's messages, between one `init` and one `result` (`docs/headless.md`)."""

from collections.abc import Sequence
from typing import Any

from kimi_tui.base.content import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    as_parts,
    system_note,
    text_of,
)
from kimi_tui.base.encoding import to_jsonable
from kimi_tui.base.json_line import json_line
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.output import Output
from kimi_tui.headless.remarks import Remarks
from kimi_tui.headless.step_answer import StepAnswer
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.codec import encode
from kimi_tui.wire.events import (
    BtwEnd,
    Event,
    SessionInfo,
    StepBegin,
    StepInterrupted,
    StepRetry,
    ToolOutput,
    ToolResult,
    ToolReturn,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest


class StreamJsonPrinter:
    """A message is written when it is whole, so what a failed attempt streamed is never seen."""

    def __init__(self, out: Output, remarks: Remarks, *, final_only: bool, version: str) -> None:
        self._out = out
        self._remarks = remarks
        self._final_only = final_only
        self._version = version
        self._answer = StepAnswer()
        self._asked: set[str] = set()
        """Calls that have been written and wait for their result."""

    async def begin(self, info: SessionInfo) -> None:
        """The session is open."""
        await self._write({"type": "init", "version": self._version, **_session(info)})

    async def show(self, event: Outgoing) -> None:
        """Something happened."""
        match event:
            case (
                TextPart() | ThinkPart() | ImageURLPart() | AudioURLPart() | VideoURLPart()
                | ToolCall() | ToolCallPart()
            ):  # fmt: skip
                self._answer.add(event)
            case StepRetry():
                self._answer = StepAnswer()
            case ToolOutput() | ApprovalRequest():
                await self._end_answer(with_calls=True)
            case ToolResult(tool_call_id=call_id, return_value=result):
                await self._end_answer(with_calls=True)
                await self._end_call(call_id, result)
            case BtwEnd(response=str(response)):
                await self._write({"role": "assistant", "content": response})
            case StepBegin() | StepInterrupted():
                await self._end_answer(with_calls=False)
            case TurnEnd(outcome=outcome):
                if self._final_only and outcome == "finished":
                    await self._write(_assistant(self._answer))
                await self._end_answer(with_calls=False)
        await self._remarks.on(event)

    async def reply(self, event: Event, text: str) -> None:
        """A command was answered: the line has the event."""
        await self._write({"type": "reply", "reply": encode(event)})

    async def finish(self, result: dict[str, Any]) -> None:
        """It is over."""
        await self._write(result)

    async def _end_answer(self, *, with_calls: bool) -> None:
        """The answer is whole. Calls without a result to come are left out of it: they were never run."""
        answer, self._answer = self._answer, StepAnswer()
        if not with_calls:
            answer.calls.clear()
        if (answer.parts or answer.calls) and not self._final_only:
            await self._write(_assistant(answer))
            self._asked |= answer.calls.keys()

    async def _end_call(self, call_id: str, result: ToolReturn) -> None:
        if call_id in self._asked:
            self._asked.remove(call_id)
            await self._write({"role": "tool", "tool_call_id": call_id, "content": _content(_told(result))})

    async def _write(self, value: dict[str, Any]) -> None:
        await self._out.write(json_line(value))


def _assistant(answer: StepAnswer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _content(answer.content)}
    if answer.calls:
        message["tool_calls"] = [
            {
                "type": "function",
                "id": call_id,
                "function": {"name": call.call.function.name, "arguments": call.text},
            }
            for call_id, call in answer.calls.items()
        ]
    return message


def _told(result: ToolReturn) -> Sequence[ContentPart]:
    """What the model was told of a result: a note, then the output."""
    note = f"ERROR: {result.message}" if result.is_error else result.message
    return (*((system_note(note),) if note else ()), *as_parts(result.output))


def _content(parts: Sequence[ContentPart]) -> str | list[Any]:
    """A string when there is one text or none, else parts."""
    if all(isinstance(part, TextPart) for part in parts) and len(parts) <= 1:
        return text_of(parts)
    return [to_jsonable(part) for part in parts]


def _session(info: SessionInfo) -> dict[str, Any]:
    return {
        "session_id": info.session_id,
        "work_dir": info.work_dir,
        "model": info.model,
        "model_kind": info.model_kind,
        "agent": info.agent,
        "thinking": info.thinking,
        "yolo": info.yolo,
        "plan_mode": info.plan_mode,
        "sandbox": info.sandbox,
        "slash_commands": [command.name for command in info.slash_commands],
    }
