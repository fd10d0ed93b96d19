"""Parser for the event stream of Anthropic's Messages API and compatible servers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.anthropic.request import REDACTED
from kimi_tui.llm.lenient_json import as_count, loads_lenient
from kimi_tui.llm.provider import MessageStart, OutputLimitReached, StreamPart
from kimi_tui.llm.transport import errors
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.http_errors import context_too_long

_NOTHING: tuple[StreamPart, ...] = ()


@dataclass(slots=True)
class _PartialMessagesCall:
    id: str
    input: dict[str, Any]
    """Arguments that arrived with the start of the call. Later fragments replace them."""
    fragments: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        try:
            return bool(self.input) or loads_lenient("".join(self.fragments)) is not None
        except ValueError:
            return False


class MessagesStream:
    """Parses one response.

    A response is complete with a stop reason, or if it has tool calls and all their arguments are complete.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._calls: list[_PartialMessagesCall] = []
        self._by_index: dict[int, _PartialMessagesCall] = {}
        self._ignored: set[int] = set()
        """Indexes of blocks to ignore, such as calls of the server's own tools."""
        self._is_ignoring = False
        """Whether to ignore the last block."""
        self._signature = ""
        self._has_output = False
        self._stop_reason = ""
        self._is_over = False
        self._counts: dict[str, int] = {}

    @property
    def is_complete(self) -> bool:
        """Whether a stop reason arrived."""
        return bool(self._stop_reason)

    @property
    def is_over(self) -> bool:
        """Whether `message_stop` arrived."""
        return self._is_over

    def parse_event(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """Return the parts of an event. Unknown events and pings have no parts."""
        match payload.get("type"):
            case "content_block_delta":
                parts = self._parse_delta(payload.get("delta"), payload.get("index"))
                self._has_output = self._has_output or bool(parts)
                return parts
            case "content_block_start":
                opened = self._parse_block(payload.get("content_block"), payload.get("index"))
                self._has_output = self._has_output or bool(opened)
                return opened
            case "content_block_stop":
                return self._close_block()
            case "message_start":
                return self._message_start(payload.get("message"))
            case "message_delta":
                self._record_stop(payload.get("delta"))
                self._record_usage(payload.get("usage"))
                return self._close_block()
            case "message_stop":
                self._is_over = True
                return self._close_block()
            case _:
                return _NOTHING

    def parse_document(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """Return the parts of a `message` object."""
        blocks = payload.get("content")
        if not isinstance(blocks, list):
            raise errors.malformed_response(self._endpoint, str(payload))
        parts = list(self._message_start(payload))
        for index, block in enumerate(blocks):
            opened = self._parse_block(block, index)
            self._has_output = self._has_output or bool(opened)
            parts += (*opened, *self._close_block())
        self._record_stop(payload)
        self._stop_reason = self._stop_reason or "end_turn"
        return parts

    def usage_parts(self) -> Sequence[StreamPart]:
        """Implement `ResponseParser.usage_parts`."""
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

    def finish(self, *, was_ended: bool) -> Sequence[StreamPart]:
        """Return the last parts: a pending signature, and OutputLimitReached if the response was cut off.

        Raises ChatProviderError if the response is empty, declined or incomplete.
        """
        if self._stop_reason == "refusal":
            raise errors.response_declined(self._endpoint)
        if not self._has_output:
            if self._stop_reason == "model_context_window_exceeded":
                raise context_too_long(self._endpoint)
            raise errors.empty_response(self._endpoint, at_limit=self._stop_reason == "max_tokens")
        are_calls_complete = bool(self._calls) and all(call.is_complete for call in self._calls)
        if not (was_ended or self._is_over or self.is_complete or are_calls_complete):
            raise errors.truncated_response(self._endpoint)
        cut = (OutputLimitReached(),) if self._stop_reason == "max_tokens" else _NOTHING
        return (*self._close_block(), *cut)

    def _message_start(self, message: Any) -> Sequence[StreamPart]:
        if not isinstance(message, dict):
            return _NOTHING
        self._record_usage(message.get("usage"))
        start = (MessageStart(str(message["id"])),) if message.get("id") else _NOTHING
        return (*start, *self.usage_parts())

    def _parse_block(self, block: Any, index: Any) -> Sequence[StreamPart]:
        closed = self._close_block()
        self._is_ignoring = False
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
            case {"type": "text" | "tool_use"}:
                return closed
            case _:
                self._is_ignoring = True
                if isinstance(index, int):
                    self._ignored.add(index)
                return closed

    def _begin_call(self, server_id: str, arguments: Any, index: Any) -> _PartialMessagesCall:
        used_ids = {call.id for call in self._calls}
        unique_id = server_id or f"toolu_{new_id()}"
        while unique_id in used_ids:
            unique_id += "_2"
        call = _PartialMessagesCall(unique_id, arguments if isinstance(arguments, dict) else {})
        self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        return call

    def _parse_delta(self, delta: Any, index: Any) -> Sequence[StreamPart]:
        match delta:
            case {"type": "text_delta", "text": str(text)} if text:
                return (TextPart(text),)
            case {"type": "thinking_delta", "thinking": str(thought)} if thought:
                return (ThinkPart(thought),)
            case {"type": "input_json_delta", "partial_json": str(fragment)} if fragment:
                call = self._call_at(index)
                return _NOTHING if call is None else (self._add_arguments(call, fragment),)
            case {"type": "signature_delta", "signature": str(signature)}:
                self._signature += signature
                return _NOTHING
            case _:
                return _NOTHING

    def _call_at(self, index: Any) -> _PartialMessagesCall | None:
        if index in self._ignored if isinstance(index, int) else self._is_ignoring:
            return None
        call = self._by_index.get(index) if isinstance(index, int) else None
        return call or (self._calls[-1] if self._calls else None)

    def _add_arguments(self, call: _PartialMessagesCall, fragment: str) -> ToolCallPart:
        call.fragments.append(fragment)
        return ToolCallPart(fragment, None if call is self._calls[-1] else call.id)

    def _close_block(self) -> Sequence[StreamPart]:
        """Return the signature or arguments that the end of a block completes.

        If the server omits the end of a block, the start of the next block ends it.
        """
        parts: list[StreamPart] = []
        if self._signature:
            parts.append(ThinkPart("", self._signature))
            self._signature = ""
        without_fragments = [call for call in self._calls if call.input and not call.fragments]
        parts += [
            self._add_arguments(call, json.dumps(call.input, ensure_ascii=False))
            for call in without_fragments
        ]
        return parts

    def _record_stop(self, delta: Any) -> None:
        if isinstance(delta, dict):
            self._stop_reason = _text(delta.get("stop_reason")) or self._stop_reason

    def _record_usage(self, usage: Any) -> None:
        for name, count in usage.items() if isinstance(usage, dict) else ():
            self._counts[name] = as_count(count) or self._counts.get(name, 0)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
