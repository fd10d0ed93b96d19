"""JSON Lines output: kimi-cli's messages, between an `init` and a `result` (`docs/headless.md`)."""

from collections.abc import Sequence
from typing import Any

from kimi_tui.base.content_parts import (
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
from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.base.json_lines import dump_json_line
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.base.output_stream import OutputStream
from kimi_tui.headless.response_assembler import ResponseAssembler
from kimi_tui.headless.stderr_notices import StderrNotices
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
    """Writes each message when it is complete. Output of failed attempts is never written."""

    def __init__(self, out: OutputStream, notices: StderrNotices, *, final_only: bool, version: str) -> None:
        self._out = out
        self._notices = notices
        self._final_only = final_only
        self._version = version
        self._response = ResponseAssembler()
        self._pending_call_ids: set[str] = set()
        """Ids of calls that were written and whose result is pending."""

    async def begin(self, info: SessionInfo) -> None:
        """Write the `init` line."""
        await self._write({"type": "init", "version": self._version, **_session_fields(info)})

    async def show(self, event: Outgoing) -> None:
        """Process an event."""
        match event:
            case (
                TextPart() | ThinkPart() | ImageURLPart() | AudioURLPart() | VideoURLPart()
                | ToolCall() | ToolCallPart()
            ):  # fmt: skip
                self._response.add(event)
            case StepRetry():
                self._response = ResponseAssembler()
            case ToolOutput() | ApprovalRequest():
                await self._end_response(with_calls=True)
            case ToolResult(tool_call_id=call_id, return_value=result):
                await self._end_response(with_calls=True)
                await self._end_call(call_id, result)
            case BtwEnd(response=str(response)):
                await self._write({"role": "assistant", "content": response})
            case StepBegin() | StepInterrupted():
                await self._end_response(with_calls=False)
            case TurnEnd(outcome=outcome):
                if self._final_only and outcome == "finished":
                    await self._write(_assistant_message(self._response))
                await self._end_response(with_calls=False)
        await self._notices.report_event(event)

    async def reply(self, event: Event, text: str) -> None:
        """Write a `reply` line with the event."""
        await self._write({"type": "reply", "reply": encode(event)})

    async def finish(self, result: dict[str, Any]) -> None:
        """Write the result."""
        await self._write(result)

    async def _end_response(self, *, with_calls: bool) -> None:
        """Write the complete response. Calls that have no result are omitted because they never ran."""
        response, self._response = self._response, ResponseAssembler()
        if not with_calls:
            response.calls.clear()
        if (response.parts or response.calls) and not self._final_only:
            await self._write(_assistant_message(response))
            self._pending_call_ids |= response.calls.keys()

    async def _end_call(self, call_id: str, result: ToolReturn) -> None:
        if call_id in self._pending_call_ids:
            self._pending_call_ids.remove(call_id)
            await self._write(
                {"role": "tool", "tool_call_id": call_id, "content": _message_content(_model_content(result))}
            )

    async def _write(self, value: dict[str, Any]) -> None:
        await self._out.write(dump_json_line(value))


def _assistant_message(response: ResponseAssembler) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _message_content(response.content)}
    if response.calls:
        message["tool_calls"] = [
            {
                "type": "function",
                "id": call_id,
                "function": {"name": call.call.function.name, "arguments": call.text},
            }
            for call_id, call in response.calls.items()
        ]
    return message


def _model_content(result: ToolReturn) -> Sequence[ContentPart]:
    """Return a tool result as the model sees it: a note, followed by the output."""
    note = f"ERROR: {result.message}" if result.is_error else result.message
    return (*((system_note(note),) if note else ()), *as_parts(result.output))


def _message_content(parts: Sequence[ContentPart]) -> str | list[Any]:
    """Return the text of `parts` if it is at most one text part, otherwise a list of parts."""
    if all(isinstance(part, TextPart) for part in parts) and len(parts) <= 1:
        return text_of(parts)
    return [to_jsonable(part) for part in parts]


def _session_fields(info: SessionInfo) -> dict[str, Any]:
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
