"""The messages stream: events of Anthropic's API, as translators speak it too, turned into parts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.identity import new_id
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm import failures
from kimi_tui.llm.endpoint import Endpoint
from kimi_tui.llm.json_text import count_of, parsed
from kimi_tui.llm.messages_request import REDACTED
from kimi_tui.llm.provider import MessageStart, StreamPart
from kimi_tui.llm.statuses import context_too_long

_NOTHING: tuple[StreamPart, ...] = ()


@dataclass(slots=True)
class _Call:
    id: str
    input: dict[str, Any]
    """Arguments that came with the call itself; fragments that follow replace them."""
    fragments: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        try:
            return bool(self.input) or parsed("".join(self.fragments)) is not None
        except ValueError:
            return False


class MessagesStream:
    """Parses one answer. It counts as whole when its stop reason came, or when all it holds beside text and
    thinking are tool calls whose arguments are whole."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._signature = ""
        self._has_spoken = False
        self._stop_reason = ""
        self._is_over = False
        self._counts: dict[str, int] = {}

    @property
    def is_complete(self) -> bool:
        """Whether a stop reason came."""
        return bool(self._stop_reason)

    @property
    def is_over(self) -> bool:
        """Whether the message was stopped."""
        return self._is_over

    def event(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """The parts of an event; unknown ones, pings among them, have none."""
        match payload.get("type"):
            case "content_block_delta":
                parts = self._delta(payload.get("delta"), payload.get("index"))
                self._has_spoken = self._has_spoken or bool(parts)
                return parts
            case "content_block_start":
                opened = self._block(payload.get("content_block"), payload.get("index"))
                self._has_spoken = self._has_spoken or bool(opened)
                return opened
            case "content_block_stop":
                return self._close_block()
            case "message_start":
                return self._message_start(payload.get("message"))
            case "message_delta":
                self._note_stop(payload.get("delta"))
                self._note_usage(payload.get("usage"))
                return self._close_block()
            case "message_stop":
                self._is_over = True
                return self._close_block()
            case _:
                return _NOTHING

    def document(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """The parts of a `message` object."""
        blocks = payload.get("content")
        if not isinstance(blocks, list):
            raise failures.garbled(self._endpoint, str(payload))
        parts = list(self._message_start(payload))
        for index, block in enumerate(blocks):
            opened = self._block(block, index)
            self._has_spoken = self._has_spoken or bool(opened)
            parts += (*opened, *self._close_block())
        self._note_stop(payload)
        self._stop_reason = self._stop_reason or "end_turn"
        return parts

    def end(self, *, was_ended: bool) -> Sequence[StreamPart]:
        """A last signature and the usage. Raises for an answer that is empty, declined or not whole."""
        if self._stop_reason == "refusal":
            raise failures.declined(self._endpoint)
        if not self._has_spoken:
            if self._stop_reason == "model_context_window_exceeded":
                raise context_too_long(self._endpoint)
            raise failures.empty_answer(self._endpoint, at_limit=self._stop_reason == "max_tokens")
        are_calls_whole = bool(self._calls) and all(call.is_whole for call in self._calls)
        if not (was_ended or self._is_over or self.is_complete or are_calls_whole):
            raise failures.broken_off(self._endpoint)
        return (*self._close_block(), *self._usage())

    def _message_start(self, message: Any) -> Sequence[StreamPart]:
        if not isinstance(message, dict):
            return _NOTHING
        self._note_usage(message.get("usage"))
        named = (MessageStart(str(message["id"])),) if message.get("id") else _NOTHING
        return (*named, *self._usage())

    def _block(self, block: Any, index: Any) -> Sequence[StreamPart]:
        closed = self._close_block()
        match block:
            case {"type": "text", "text": str(text)} if text:
                return (*closed, TextPart(text))
            case {"type": "thinking"}:
                self._signature = _text(block.get("signature"))
                thought = _text(block.get("thinking"))
                return (*closed, ThinkPart(thought)) if thought else closed
            case {"type": "redacted_thinking", "data": str(data)}:
                return (*closed, ThinkPart("", REDACTED + data))
            case {"type": "tool_use", "name": str(name)} if name:
                call = self._begin_call(_text(block.get("id")), block.get("input"), index)
                return (*closed, ToolCall(call.id, FunctionCall(name)))
            case _:
                return closed

    def _begin_call(self, server_id: str, arguments: Any, index: Any) -> _Call:
        taken = {call.id for call in self._calls}
        unique = server_id or f"toolu_{new_id()}"
        while unique in taken:
            unique += "_2"
        call = _Call(unique, arguments if isinstance(arguments, dict) else {})
        self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        return call

    def _delta(self, delta: Any, index: Any) -> Sequence[StreamPart]:
        match delta:
            case {"type": "text_delta", "text": str(text)} if text:
                return (TextPart(text),)
            case {"type": "thinking_delta", "thinking": str(thought)} if thought:
                return (ThinkPart(thought),)
            case {"type": "input_json_delta", "partial_json": str(fragment)} if fragment:
                call = self._call_at(index)
                return _NOTHING if call is None else (self._continue(call, fragment),)
            case {"type": "signature_delta", "signature": str(signature)}:
                self._signature += signature
                return _NOTHING
            case _:
                return _NOTHING

    def _call_at(self, index: Any) -> _Call | None:
        numbered = self._by_index.get(index) if isinstance(index, int) else None
        return numbered or (self._calls[-1] if self._calls else None)

    def _continue(self, call: _Call, fragment: str) -> ToolCallPart:
        call.fragments.append(fragment)
        return ToolCallPart(fragment, None if call is self._calls[-1] else call.id)

    def _close_block(self) -> Sequence[StreamPart]:
        """What the end of a block, or its silent end by the next one, completes: a signature, a call's
        arguments."""
        parts: list[StreamPart] = []
        if self._signature:
            parts.append(ThinkPart("", self._signature))
            self._signature = ""
        silent = [call for call in self._calls if call.input and not call.fragments]
        parts += [self._continue(call, json.dumps(call.input, ensure_ascii=False)) for call in silent]
        return parts

    def _note_stop(self, delta: Any) -> None:
        if isinstance(delta, dict):
            self._stop_reason = _text(delta.get("stop_reason")) or self._stop_reason

    def _note_usage(self, usage: Any) -> None:
        for name, count in usage.items() if isinstance(usage, dict) else ():
            self._counts[name] = count_of(count) or self._counts.get(name, 0)

    def _usage(self) -> Sequence[StreamPart]:
        if not any(self._counts.values()):
            return _NOTHING
        count = self._counts.get
        return (
            TokenUsage(
                input_other=count("input_tokens", 0),
                output=count("output_tokens", 0),
                input_cache_read=count("cache_read_input_tokens", 0),
                input_cache_creation=count("cache_creation_input_tokens", 0),
            ),
        )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
