"""Chat completion requests: a conversation turned into the JSON that OpenAI's dialect takes.

What is made of a message depends on it and on those before it alone, so the request of a step is a prefix of
the next one's and the server's cache hits.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from kimi_tui.base.content import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    text_of,
)
from kimi_tui.base.message import Message, ToolCall
from kimi_tui.llm.call_arguments import arguments_text
from kimi_tui.llm.call_ids import SentIds
from kimi_tui.llm.call_names import called_name
from kimi_tui.llm.chat_dialect import ChatDialect
from kimi_tui.llm.provider import ThinkingEffort, ToolSchema

_UNSPOKEN_THOUGHT = "."
"""Stands for thinking that isn't there: Moonshot refuses a thinking model's tool call without any."""


class ChatWay(NamedTuple):
    """What the messages of a request depend on beside the conversation."""

    system_prompt: str
    dialect: ChatDialect
    effort: ThinkingEffort | None


class ChatMessages:
    """A conversation on its way into a request, one message after another.

    Media of tool results follow in a user message after the last result of their step: the tool role holds
    text alone. Messages without anything in them are left out: servers refuse them.
    """

    def __init__(self, way: ChatWay) -> None:
        self._system_prompt, self._dialect, effort = way
        self._wants_thought = self._dialect.replays_thinking and effort != "off"
        self._ids = SentIds(self._dialect.ids)
        self._media: list[dict[str, Any]] = []

    @property
    def first(self) -> list[dict[str, Any]]:
        """What stands before the first message of the conversation."""
        return [{"role": "system", "content": self._system_prompt}] if self._system_prompt else []

    def sent_for(self, message: Message) -> list[dict[str, Any]]:
        """What the next message of the conversation adds to those of the request."""
        sent: list[dict[str, Any]] = []
        if message.role != "tool" and self._media:
            sent, self._media = self.left, []
        match message.role:
            case "tool":
                sent.append(_result(message, self._ids))
                self._media = [*self._media, *_media_of_result(message, self._ids)]
            case "assistant":
                sent += _assistant(message, self._ids, self._dialect, wants_thought=self._wants_thought)
            case "user" | "system":
                content = _content(message.content)
                sent += [{"role": message.role, "content": content}] if content else []
        return sent

    @property
    def left(self) -> list[dict[str, Any]]:
        """What follows when no message does."""
        return [{"role": "user", "content": self._media}] if self._media else []


def chat_tools(tools: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """`tools` of the request."""
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


def _assistant(
    message: Message, ids: SentIds, dialect: ChatDialect, *, wants_thought: bool
) -> list[dict[str, Any]]:
    text = text_of(message.content)
    calls = message.tool_calls or ()
    if not text and not calls:
        return []
    sent: dict[str, Any] = {"role": "assistant", "content": text}
    if dialect.replays_thinking:
        thought = "".join(part.think for part in message.content if isinstance(part, ThinkPart))
        if not thought and calls and wants_thought:
            thought = _UNSPOKEN_THOUGHT
        if thought:
            sent["reasoning_content"] = thought
    if calls:
        sent["tool_calls"] = [
            _call(call, call_id) for call, call_id in zip(calls, ids.name(calls), strict=True)
        ]
    return [sent]


def _call(call: ToolCall, call_id: str) -> dict[str, Any]:
    function = {"name": called_name(call), "arguments": arguments_text(call)}
    return {**(call.extras or {}), "id": call_id, "type": "function", "function": function}


def _result(message: Message, ids: SentIds) -> dict[str, Any]:
    text = text_of(message.content)
    if not text:
        text = "See the media that follow." if _media(message.content) else "(no output)"
    return {"role": "tool", "tool_call_id": ids.of_result(message.tool_call_id or ""), "content": text}


def _media_of_result(message: Message, ids: SentIds) -> list[dict[str, Any]]:
    media = _media(message.content)
    if not media:
        return []
    call_id = ids.of_result(message.tool_call_id or "")
    return [{"type": "text", "text": f"<system>Media of the result of {call_id}:</system>"}, *media]


def _content(parts: Sequence[ContentPart]) -> str | list[dict[str, Any]]:
    """Plain text where there is nothing else: some servers take no list."""
    if not _media(parts):
        return text_of(parts)
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if not isinstance(part, TextPart):
            blocks += _media((part,))
        elif part.text:
            blocks.append({"type": "text", "text": part.text})
    return blocks


def _media(parts: Iterable[ContentPart]) -> list[dict[str, Any]]:
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
