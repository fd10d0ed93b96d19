"""Encoder of conversations as input items of the Responses API.

The encoding of a message depends only on this message and earlier messages, so each request extends the
previous request and hits the server's cache.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from kimi_tui.base.content_parts import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    text_of,
)
from kimi_tui.base.message import Message, ToolCall
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.llm.reasoning_signature import is_reasoning_signature, parse_reasoning_signature
from kimi_tui.llm.tool_call_arguments import arguments_as_text
from kimi_tui.llm.tool_call_ids import ToolCallIdMap, ToolCallIdRule
from kimi_tui.llm.tool_call_names import valid_tool_name

_IDS = ToolCallIdRule(max_length=64, unique=True)
_OMITTED_MEDIA = "<system>Audio or video was omitted.</system>"


def collect_reasoning(history: Sequence[Message]) -> set[str]:
    """Return the signatures of the reasoning items that a request with `history` would contain."""
    return {
        part.encrypted
        for message in history
        for part in message.content
        if isinstance(part, ThinkPart) and part.encrypted and is_reasoning_signature(part.encrypted)
    }


class ResponsesStyle(NamedTuple):
    """The settings that affect the encoding."""

    rejected_reasoning: frozenset[str] = frozenset()
    """Signatures of reasoning items that the server rejected."""

    def create_encoder(self) -> "InputItems":
        """Implement `EncodingStyle.create_encoder`."""
        return InputItems(self)


class InputItems:
    """Encodes the messages of a conversation one after another.

    A response is encoded in its original order: each reasoning item precedes the text or call that it led to.
    Reasoning of other providers and reasoning at the end are omitted, because the server rejects both.
    """

    def __init__(self, style: ResponsesStyle = ResponsesStyle()) -> None:
        self._rejected_reasoning = style.rejected_reasoning
        self._ids = ToolCallIdMap(_IDS)

    @property
    def leading_messages(self) -> list[dict[str, Any]]:
        """Empty: the system prompt is a field of the request."""
        return []

    @property
    def trailing_messages(self) -> list[dict[str, Any]]:
        """Empty: each item is final."""
        return []

    def encode(self, message: Message) -> list[dict[str, Any]]:
        """Encode the next message. Return the new items."""
        match message.role:
            case "tool":
                call_id = self._ids.result_id(message.tool_call_id or "")
                output = _encode_output(message.content)
                return [{"type": "function_call_output", "call_id": call_id, "output": output}]
            case "assistant":
                return self._encode_response(message)
            case "user" | "system":
                role = "developer" if message.role == "system" else "user"
                content = _encode_input(message.content)
                return [{"type": "message", "role": role, "content": content}] if content else []

    def _encode_response(self, message: Message) -> list[dict[str, Any]]:
        calls = message.tool_calls or ()
        encoded_calls = [
            _encode_call(call, call_id)
            for call, call_id in zip(calls, self._ids.assign_ids(calls), strict=True)
        ]
        items: list[dict[str, Any]] = []
        n_sent = 0
        for part in message.content:
            match part:
                case TextPart(text=text) if text:
                    items.append(_encode_text(text))
                case ThinkPart(encrypted=str(signature)) if self._is_sendable(signature):
                    before = part.calls_before or 0
                    items += encoded_calls[n_sent:before]
                    n_sent = max(n_sent, min(before, len(encoded_calls)))
                    items.append(_encode_reasoning(part.think, signature))
                case _:
                    continue
        items += encoded_calls[n_sent:]
        while items and items[-1]["type"] == "reasoning":
            items.pop()
        return items

    def _is_sendable(self, signature: str) -> bool:
        return is_reasoning_signature(signature) and signature not in self._rejected_reasoning


def encode_responses_tools(tools: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """Return the request's `tools`. They aren't strict, because strict tools require all their properties."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "strict": False,
        }
        for tool in tools
    ]


def _encode_text(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text}


def _encode_reasoning(summary: str, signature: str) -> dict[str, Any]:
    item_id, encrypted = parse_reasoning_signature(signature)
    return {
        "type": "reasoning",
        "id": item_id,
        "summary": [{"type": "summary_text", "text": summary}] if summary else [],
        "encrypted_content": encrypted,
    }


def _encode_call(call: ToolCall, call_id: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": valid_tool_name(call),
        "arguments": arguments_as_text(call),
    }


def _encode_output(parts: Sequence[ContentPart]) -> str | list[dict[str, Any]]:
    """Return a list of parts. For text only, return a string, because some servers reject lists."""
    if all(isinstance(part, TextPart | ThinkPart) for part in parts):
        return text_of(parts) or "(no output)"
    return _encode_input(parts)


def _encode_input(parts: Sequence[ContentPart]) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case TextPart(text=text) if text:
                content.append({"type": "input_text", "text": text})
            case ImageURLPart(image_url=address):
                content.append({"type": "input_image", "image_url": address.url, "detail": "auto"})
            case AudioURLPart() | VideoURLPart():
                content.append({"type": "input_text", "text": _OMITTED_MEDIA})
            case TextPart() | ThinkPart():
                continue
    return content
