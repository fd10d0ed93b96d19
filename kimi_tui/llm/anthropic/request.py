"""Encoder of conversations as messages of Anthropic's API.

The encoding of a message depends only on this message and earlier messages, so each request extends the
previous request. Only the cache markers move.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from kimi_tui.base.content_parts import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    system_note,
)
from kimi_tui.base.message import Message
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.llm.reasoning_signature import is_reasoning_signature
from kimi_tui.llm.tool_call_arguments import arguments_as_object
from kimi_tui.llm.tool_call_ids import ToolCallIdMap, ToolCallIdRule
from kimi_tui.llm.tool_call_names import valid_tool_name

REDACTED = "redacted:"
"""Prefix of the signature of redacted thinking. The block's data follows it."""

_IDS = ToolCallIdRule(safe_chars_only=True, unique=True)
_CACHED = {"cache_control": {"type": "ephemeral"}}
_CACHED_TURNS = 2
"""Number of user messages with a cache marker. The last marker writes the cache. The marker before it reads
the cache of the previous step, even if the last message has many blocks.
"""

_OMITTED_NOTE = system_note("Earlier messages were omitted.")


class TurnStyle(NamedTuple):
    """The settings that affect the encoding."""

    rejected_signatures: frozenset[str] = frozenset()
    """Signatures of thinking that the server rejected."""

    def create_encoder(self) -> "TurnMessages":
        """Implement `EncodingStyle.create_encoder`."""
        return TurnMessages(self)


class TurnMessages:
    """Encodes a conversation as alternating user and assistant messages, starting with a user message.

    Tool results come first in the user message after their calls. Thinking is sent back only with a signature
    that the server hasn't rejected. Empty texts and messages are omitted. The last user messages have a cache
    marker.
    """

    def __init__(self, style: TurnStyle = TurnStyle()) -> None:
        self._rejected_signatures = style.rejected_signatures
        self._ids = ToolCallIdMap(_IDS)
        self._last: list[dict[str, Any]] = []
        """Messages starting with the first cache marker."""

    @property
    def leading_messages(self) -> list[dict[str, Any]]:
        """Empty: nothing precedes the first message of the conversation."""
        return []

    def encode(self, message: Message) -> list[dict[str, Any]]:
        """Encode the next message. Return the encoded messages that later messages can't change."""
        if message.role == "assistant":
            self._add("assistant", _encode_assistant(message, self._ids, self._rejected_signatures))
        else:
            self._add("user", _encode_user(message, self._ids))
        turns = self._cache_points()
        final_count = turns[0] if len(turns) == _CACHED_TURNS else 0
        final, self._last = self._last[:final_count], self._last[final_count:]
        return final

    @property
    def trailing_messages(self) -> list[dict[str, Any]]:
        """Messages that may still change, with the cache markers of this request."""
        turns = self._cache_points()
        return [_with_cache_control(it) if index in turns else it for index, it in enumerate(self._last)]

    def _add(self, role: str, blocks: list[dict[str, Any]]) -> None:
        if not blocks:
            return
        if role == "assistant" and not self._last:
            self._last.append({"role": "user", "content": _encode_parts((_OMITTED_NOTE,))})
        if self._last and self._last[-1]["role"] == role:
            self._last[-1]["content"] += blocks
        else:
            self._last.append({"role": role, "content": blocks})

    def _cache_points(self) -> list[int]:
        """Return the indexes of the user messages that get a cache marker."""
        return [index for index, it in enumerate(self._last) if it["role"] == "user"][-_CACHED_TURNS:]


def tools_and_system(system_prompt: str, tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """Return the request's `system` and `tools`, each with a cache marker at its end."""
    fields: dict[str, Any] = {}
    if system_prompt.strip():
        fields["system"] = [{"type": "text", "text": system_prompt, **_CACHED}]
    if tools:
        schemas: list[dict[str, Any]] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in tools
        ]
        schemas[-1] |= _CACHED
        fields["tools"] = schemas
    return fields


def collect_signatures(history: Sequence[Message]) -> set[str]:
    """Return the thinking signatures that a request with `history` would contain."""
    return {
        part.encrypted
        for message in history
        for part in message.content
        if isinstance(part, ThinkPart) and part.encrypted and _is_sendable(part.encrypted, ())
    }


def last_response_starts_with_thinking(last_messages: Sequence[dict[str, Any]]) -> bool:
    """Return whether the API allows thinking with a budget.

    Within a turn of tool calls, the previous response must have started with thinking.
    """
    last = next((message for message in reversed(last_messages) if message["role"] == "assistant"), None)
    if last is None or last_messages[-1]["content"][0]["type"] != "tool_result":
        return True
    return last["content"][0]["type"] in {"thinking", "redacted_thinking"}


def _encode_assistant(
    message: Message, ids: ToolCallIdMap, rejected_signatures: Collection[str]
) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    calls = message.tool_calls or ()
    encoded_calls = [
        {
            "type": "tool_use",
            "id": call_id,
            "name": valid_tool_name(call),
            "input": arguments_as_object(call),
        }
        for call, call_id in zip(calls, ids.assign_ids(calls), strict=True)
    ]
    n_sent = 0
    for part in message.content:
        match part:
            case TextPart(text=text) if text.strip():
                blocks.append({"type": "text", "text": text})
            case ThinkPart(encrypted=str(signature)) if _is_sendable(signature, rejected_signatures):
                blocks += encoded_calls[n_sent : part.calls_before or 0]
                n_sent = max(n_sent, min(part.calls_before or 0, len(encoded_calls)))
                blocks.append(_encode_thinking(part.think, signature))
            case _:
                continue
    blocks += encoded_calls[n_sent:]
    has_only_thinking = all(block["type"] in {"thinking", "redacted_thinking"} for block in blocks)
    return [] if has_only_thinking else blocks


def _is_sendable(signature: str, rejected_signatures: Collection[str]) -> bool:
    return bool(signature) and signature not in rejected_signatures and not is_reasoning_signature(signature)


def _with_cache_control(message: dict[str, Any]) -> dict[str, Any]:
    *blocks, last = message["content"]
    return {**message, "content": [*blocks, last | _CACHED]}


def _encode_thinking(thought: str, signature: str) -> dict[str, Any]:
    if signature.startswith(REDACTED):
        return {"type": "redacted_thinking", "data": signature.removeprefix(REDACTED)}
    return {"type": "thinking", "thinking": thought, "signature": signature}


def _encode_user(message: Message, ids: ToolCallIdMap) -> list[dict[str, Any]]:
    if message.role == "system":
        return _encode_parts((system_note(message.text),)) if message.text.strip() else []
    blocks = _encode_parts(message.content)
    if message.role != "tool":
        return blocks
    result: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": ids.result_id(message.tool_call_id or ""),
        "content": blocks or "(no output)",
    }
    return [result]


def _encode_parts(parts: Sequence[ContentPart]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case TextPart(text=text) if text.strip():
                blocks.append({"type": "text", "text": text})
            case ImageURLPart(image_url=address):
                blocks.append({"type": "image", "source": _media_source(address.url)})
            case AudioURLPart() | VideoURLPart():
                blocks.append({"type": "text", "text": "<system>Audio or video was omitted.</system>"})
            case _:
                continue
    return blocks


def _media_source(url: str) -> dict[str, str]:
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    header, _, data = url.removeprefix("data:").partition(",")
    return {"type": "base64", "media_type": header.partition(";")[0] or "image/png", "data": data}
