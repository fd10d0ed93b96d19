"""Encoder of conversations as messages of the Chat Completions API.

The encoding of a message depends only on this message and earlier messages, so each request extends the
previous request and hits the server's cache.
"""

from collections.abc import Iterable, Sequence
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
from kimi_tui.llm.openai.dialect import ChatDialect
from kimi_tui.llm.provider import ThinkingEffort, ToolSchema
from kimi_tui.llm.tool_call_arguments import arguments_as_text
from kimi_tui.llm.tool_call_ids import ToolCallIdMap
from kimi_tui.llm.tool_call_names import valid_tool_name

_PLACEHOLDER_THOUGHT = "."
"""Replaces missing thinking, because Moonshot rejects a thinking model's tool calls without thinking."""


class RequestStyle(NamedTuple):
    """The settings that affect the encoding."""

    system_prompt: str
    dialect: ChatDialect
    effort: ThinkingEffort | None

    def create_encoder(self) -> "ChatMessages":
        """Implement `EncodingStyle.create_encoder`."""
        return ChatMessages(self)


class ChatMessages:
    """Encodes the messages of a conversation one after another.

    The tool role only takes text, so media of tool results follow in a user message after the step's last
    result. Empty messages are omitted, because servers reject them.
    """

    def __init__(self, style: RequestStyle) -> None:
        self._system_prompt, self._dialect, effort = style
        self._requires_thinking = self._dialect.replays_thinking and effort != "off"
        self._ids = ToolCallIdMap(self._dialect.ids)
        self._media: list[dict[str, Any]] = []

    @property
    def leading_messages(self) -> list[dict[str, Any]]:
        """Encoded messages before the first message of the conversation."""
        return [{"role": "system", "content": self._system_prompt}] if self._system_prompt else []

    def encode(self, message: Message) -> list[dict[str, Any]]:
        """Encode the next message. Return the new encoded messages."""
        encoded: list[dict[str, Any]] = []
        if message.role != "tool" and self._media:
            encoded, self._media = self.trailing_messages, []
        match message.role:
            case "tool":
                encoded.append(_encode_result(message, self._ids))
                self._media = [*self._media, *_media_of_result(message, self._ids)]
            case "assistant":
                encoded += _encode_assistant(
                    message, self._ids, self._dialect, requires_thinking=self._requires_thinking
                )
            case "user" | "system":
                content = _encode_content(message.content)
                encoded += [{"role": message.role, "content": content}] if content else []
        return encoded

    @property
    def trailing_messages(self) -> list[dict[str, Any]]:
        """Encoded messages that complete the request."""
        return [{"role": "user", "content": self._media}] if self._media else []


def encode_tools(tools: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """Return the request's `tools`."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in tools
    ]


def _encode_assistant(
    message: Message, ids: ToolCallIdMap, dialect: ChatDialect, *, requires_thinking: bool
) -> list[dict[str, Any]]:
    text = text_of(message.content)
    calls = message.tool_calls or ()
    if not text and not calls:
        return []
    encoded: dict[str, Any] = {"role": "assistant", "content": text}
    if dialect.replays_thinking:
        thought = "".join(part.think for part in message.content if isinstance(part, ThinkPart))
        if not thought and calls and requires_thinking:
            thought = _PLACEHOLDER_THOUGHT
        if thought:
            encoded[dialect.reasoning_key] = thought
    if calls:
        encoded["tool_calls"] = [
            _encode_call(call, call_id) for call, call_id in zip(calls, ids.assign_ids(calls), strict=True)
        ]
    return [encoded]


def _encode_call(call: ToolCall, call_id: str) -> dict[str, Any]:
    function = {"name": valid_tool_name(call), "arguments": arguments_as_text(call)}
    return {**(call.extras or {}), "id": call_id, "type": "function", "function": function}


def _encode_result(message: Message, ids: ToolCallIdMap) -> dict[str, Any]:
    text = text_of(message.content)
    if not text:
        text = "See the media below." if _encode_media(message.content) else "(no output)"
    return {"role": "tool", "tool_call_id": ids.result_id(message.tool_call_id or ""), "content": text}


def _media_of_result(message: Message, ids: ToolCallIdMap) -> list[dict[str, Any]]:
    media = _encode_media(message.content)
    if not media:
        return []
    call_id = ids.result_id(message.tool_call_id or "")
    return [{"type": "text", "text": f"<system>Media in the result of {call_id}:</system>"}, *media]


def _encode_content(parts: Sequence[ContentPart]) -> str | list[dict[str, Any]]:
    """Return a list of parts. For text only, return a string, because some servers reject lists."""
    if not _encode_media(parts):
        return "\n".join(part.text for part in parts if isinstance(part, TextPart) and part.text)
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if not isinstance(part, TextPart):
            blocks += _encode_media((part,))
        elif part.text:
            blocks.append({"type": "text", "text": part.text})
    return blocks


def _encode_media(parts: Iterable[ContentPart]) -> list[dict[str, Any]]:
    media: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case ImageURLPart(image_url=address):
                media.append({"type": "image_url", "image_url": {"url": address.url}})
            case AudioURLPart(audio_url=address):
                media.append({"type": "audio_url", "audio_url": {"url": address.url}})
            case VideoURLPart(video_url=address):
                media.append({"type": "video_url", "video_url": {"url": address.url}})
            case TextPart() | ThinkPart():
                continue
    return media
