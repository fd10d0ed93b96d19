"""Parser for the event stream of the Responses API.

Source of the events: `openai.types.responses.ResponseStreamEvent`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.ids import new_id
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.lenient_json import as_count
from kimi_tui.llm.provider import MessageStart, OutputLimitReached, StreamPart
from kimi_tui.llm.reasoning_signature import reasoning_signature
from kimi_tui.llm.transport import errors
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.http_errors import stream_error

_NOTHING: tuple[StreamPart, ...] = ()
_PARAGRAPH = "\n\n"


@dataclass(slots=True)
class _OutputItem:
    """The emitted part of an output item."""

    type: str
    call_id: str = ""
    text: str = ""
    """Text, summary or arguments so far."""
    is_closed: bool = False

    def remainder(self, text: str) -> str:
        """Return the part of the complete `text` that hasn't been emitted."""
        return text[len(self.text) :] if text.startswith(self.text) else ""


class ResponsesStream:
    """Parses one response. Only `response.completed` or `response.incomplete` ends the response.

    The events at the end of each part, item and response repeat the streamed text. The parser emits this text
    only once, even if its deltas are missing.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._items: dict[int, _OutputItem] = {}
        """Items by their index in the output."""
        self._last_call_id = ""
        self._is_named = False
        self._has_text = False
        self._has_output = False
        self._status = ""
        """`completed`, or the reason why the response is incomplete."""
        self._usage: TokenUsage | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the response ended, with or without all of its output."""
        return bool(self._status)

    @property
    def is_over(self) -> bool:
        """Whether no events can follow. The last event includes the usage."""
        return bool(self._status)

    def parse_event(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """Return the parts of an event. Unknown events have no parts."""
        kind = payload.get("type")
        index = payload.get("output_index")
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                return self._add_text(self._item_at(index, "message"), _text(payload.get("delta")))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._add_thinking(self._item_at(index, "reasoning"), _text(payload.get("delta")))
            case "response.reasoning_summary_part.added":
                return self._begin_summary_part(self._item_at(index, "reasoning"))
            case "response.function_call_arguments.delta":
                return self._add_arguments(self._items.get(_index(index)), _text(payload.get("delta")))
            case "response.output_item.added":
                return self._open_item(index, payload.get("item"))
            case "response.output_item.done":
                return self._close_item(index, payload.get("item"))
            case "response.created" | "response.in_progress":
                return self._message_start(payload.get("response"))
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end(payload.get("response"), str(kind).removeprefix("response."))
            case _:
                return _NOTHING

    def parse_document(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """Return the parts of a `response` object."""
        if not isinstance(payload.get("output"), list):
            raise errors.malformed_response(self._endpoint, str(payload))
        return self._end(payload, _text(payload.get("status")) or "completed")

    def usage_parts(self) -> Sequence[StreamPart]:
        """Implement `ResponseParser.usage_parts`."""
        return _NOTHING if self._usage is None else (self._usage,)

    def finish(self, *, was_ended: bool) -> Sequence[StreamPart]:
        """Return OutputLimitReached if the response was cut off.

        Raises ChatProviderError if the response is empty, declined or incomplete.
        """
        if self._status == "content_filter":
            raise errors.response_declined(self._endpoint)
        if not (self._status or (was_ended and self._has_output)):
            if not self._has_output and not self._items:
                raise errors.empty_response(self._endpoint)
            raise errors.truncated_response(self._endpoint)
        if not self._has_output:
            raise errors.empty_response(self._endpoint, at_limit=self._status == "max_output_tokens")
        return (OutputLimitReached(),) if self._status == "max_output_tokens" else _NOTHING

    # items

    def _item_at(self, index: Any, kind: str) -> _OutputItem:
        """Return the item at `index`. If the start of the item is missing, create it."""
        item = self._items.get(_index(index))
        if item is None or item.type != kind:
            item = self._items[_index(index)] = _OutputItem(kind)
        return item

    def _open_item(self, index: Any, item: Any) -> Sequence[StreamPart]:
        if not isinstance(item, dict):
            return _NOTHING
        kind = _text(item.get("type"))
        if kind != "function_call":
            self._items[_index(index)] = _OutputItem(kind)
            return _NOTHING
        name = _text(item.get("name"))
        if not name:
            raise errors.malformed_response(self._endpoint, "a tool call without a name")
        call = _OutputItem(kind, self._unique_id(_text(item.get("call_id")) or _text(item.get("id"))))
        call.text = _text(item.get("arguments"))
        self._items[_index(index)] = call
        self._last_call_id = call.call_id
        self._has_output = True
        return (ToolCall(call.call_id, FunctionCall(name, call.text or None)),)

    def _close_item(self, index: Any, item: Any) -> Sequence[StreamPart]:
        """Return the parts of the complete `item` that weren't in its deltas."""
        if not isinstance(item, dict):
            return _NOTHING
        known = self._items.get(_index(index))
        if known is not None and known.is_closed:
            return _NOTHING
        opened: Sequence[StreamPart] = _NOTHING
        if known is None or known.type != item.get("type"):
            opened = self._open_item(index, item)
            known = self._items[_index(index)]
        known.is_closed = True
        match known.type:
            case "message":
                return self._add_text(known, known.remainder(_join_texts(item.get("content"), "")))
            case "reasoning":
                return self._close_reasoning(known, item)
            case "function_call":
                return (*opened, *self._add_arguments(known, known.remainder(_text(item.get("arguments")))))
            case _:
                return _NOTHING

    def _close_reasoning(self, known: _OutputItem, item: Mapping[str, Any]) -> Sequence[StreamPart]:
        text = _join_texts(item.get("summary"), _PARAGRAPH) or _join_texts(item.get("content"), "")
        parts = self._add_thinking(known, known.remainder(text))
        encrypted = _text(item.get("encrypted_content"))
        if not encrypted:
            return parts
        return (*parts, ThinkPart("", reasoning_signature(_text(item.get("id")), encrypted)))

    # parts

    def _add_text(self, item: _OutputItem, text: str) -> Sequence[StreamPart]:
        if not text:
            return _NOTHING
        separator = _PARAGRAPH if self._has_text and not item.text else ""
        item.text += text
        self._has_text = self._has_output = True
        return (TextPart(separator + text),)

    def _begin_summary_part(self, item: _OutputItem) -> Sequence[StreamPart]:
        return self._add_thinking(item, _PARAGRAPH) if item.text else _NOTHING

    def _add_thinking(self, item: _OutputItem, text: str) -> Sequence[StreamPart]:
        if not text:
            return _NOTHING
        item.text += text
        return (ThinkPart(text),)

    def _add_arguments(self, call: _OutputItem | None, fragment: str) -> Sequence[StreamPart]:
        if call is None or not call.call_id or not fragment:
            return _NOTHING
        call.text += fragment
        return (ToolCallPart(fragment, None if call.call_id == self._last_call_id else call.call_id),)

    # the response

    def _message_start(self, response: Any) -> Sequence[StreamPart]:
        message_id = response.get("id") if isinstance(response, dict) else None
        if self._is_named or not message_id:
            return _NOTHING
        self._is_named = True
        return (MessageStart(str(message_id)),)

    def _end(self, response: Any, status: str) -> Sequence[StreamPart]:
        """Return the parts of the complete `response` that weren't streamed.

        Raises ChatProviderError if the response failed.
        """
        response = response if isinstance(response, dict) else {}
        if error := response.get("error"):
            raise stream_error(self._endpoint, {"error": error})
        if status in {"failed", "cancelled"}:
            raise stream_error(self._endpoint, {"error": {"message": f"response {status}"}})
        parts = list(self._message_start(response))
        output = response.get("output")
        for index, item in enumerate(output if isinstance(output, list) else ()):
            parts += self._close_item(index, item)
        if isinstance(usage := response.get("usage"), dict):
            self._usage = parse_responses_usage(usage)
        details = response.get("incomplete_details")
        reason = _text(details.get("reason")) if isinstance(details, dict) else ""
        self._status = reason or status
        return parts

    def _unique_id(self, server_id: str) -> str:
        used_ids = {item.call_id for item in self._items.values()}
        base_id = server_id or f"call_{new_id()}"
        unique_id, count = base_id, 1
        while unique_id in used_ids:
            count += 1
            unique_id = f"{base_id}_{count}"
        return unique_id


def parse_responses_usage(usage: Mapping[str, Any]) -> TokenUsage:
    """Return the token counts of a response's `usage`."""
    details = usage.get("input_tokens_details")
    details = details if isinstance(details, dict) else {}
    total = as_count(usage.get("input_tokens"))
    cached = min(as_count(details.get("cached_tokens")), total)
    written = min(as_count(details.get("cache_write_tokens")), total - cached)
    return TokenUsage(
        input_other=total - cached - written,
        output=as_count(usage.get("output_tokens")),
        input_cache_read=cached,
        input_cache_creation=written,
    )


def _index(value: Any) -> int:
    return value if isinstance(value, int) else -1


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _join_texts(parts: Any, separator: str) -> str:
    """Return the joined texts and refusals of an item's content or summary."""
    texts = [
        _text(part.get("text")) or _text(part.get("refusal"))
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict)
    ]
    return separator.join(text for text in texts if text)
