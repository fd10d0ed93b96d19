"""Messages requests: a conversation turned into the JSON that Anthropic's API takes.

What is made of a message depends on it and on those before it alone, so the request of a step is a prefix of
the next one's; only the marks of what to cache move on.
"""

from collections.abc import Collection, Sequence
from typing import Any

from kimi_tui.base.content import (
    AudioURLPart,
    ContentPart,
    ImageURLPart,
    TextPart,
    ThinkPart,
    VideoURLPart,
    system_note,
)
from kimi_tui.base.message import Message
from kimi_tui.llm.call_arguments import arguments_object
from kimi_tui.llm.call_ids import IdRule, SentIds
from kimi_tui.llm.call_names import called_name
from kimi_tui.llm.provider import ToolSchema

REDACTED = "redacted:"
"""Begins the signature of thinking that Anthropic redacted; what follows is the block's data."""

_IDS = IdRule(plain_only=True, unique=True)
_CACHED = {"cache_control": {"type": "ephemeral"}}
_CACHED_TURNS = 2
"""How many user messages end with a mark: the last one writes the cache, the one before it finds what the
step before wrote, however many blocks the last one has."""

_BEFORE = system_note("What was said before is left out.")


class TurnMessages:
    """A conversation on its way into a request: user and assistant in turns, beginning with a user.

    Tool results follow their calls in one user message, before anything else that is said there. Thinking
    goes back only with the signature it came with, unless that was refused. Empty texts and messages are left
    out. The last user messages end with a mark of what to cache.
    """

    def __init__(self, refused_signatures: Collection[str] = frozenset()) -> None:
        self._refused_signatures = refused_signatures
        self._ids = SentIds(_IDS)
        self._last: list[dict[str, Any]] = []
        """The messages from the first with a mark on."""

    @property
    def first(self) -> list[dict[str, Any]]:
        """Nothing stands before the first message of the conversation."""
        return []

    def sent_for(self, message: Message) -> list[dict[str, Any]]:
        """The messages that stay as they are from now on."""
        if message.role == "assistant":
            self._add("assistant", _said(message, self._ids, self._refused_signatures))
        else:
            self._add("user", _heard(message, self._ids))
        turns = self._turns()
        kept = turns[0] if len(turns) == _CACHED_TURNS else 0
        settled, self._last = self._last[:kept], self._last[kept:]
        return settled

    @property
    def left(self) -> list[dict[str, Any]]:
        """The messages that may still change, with the marks of this request."""
        turns = self._turns()
        return [_marked(it) if index in turns else it for index, it in enumerate(self._last)]

    def _add(self, role: str, blocks: list[dict[str, Any]]) -> None:
        if not blocks:
            return
        if role == "assistant" and not self._last:
            self._last.append({"role": "user", "content": _blocks((_BEFORE,))})
        if self._last and self._last[-1]["role"] == role:
            self._last[-1]["content"] += blocks
        else:
            self._last.append({"role": role, "content": blocks})

    def _turns(self) -> list[int]:
        """Where the user messages stand that get a mark."""
        return [index for index, it in enumerate(self._last) if it["role"] == "user"][-_CACHED_TURNS:]


def tools_and_system(system_prompt: str, tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """`system` and `tools` of the request, each marked to be cached up to its end."""
    fields: dict[str, Any] = {}
    if system_prompt.strip():
        fields["system"] = [{"type": "text", "text": system_prompt, **_CACHED}]
    if tools:
        sent: list[dict[str, Any]] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in tools
        ]
        sent[-1] |= _CACHED
        fields["tools"] = sent
    return fields


def signatures(history: Sequence[Message]) -> set[str]:
    """The signatures that would go back with `history`."""
    return {
        part.encrypted
        for message in history
        for part in message.content
        if isinstance(part, ThinkPart) and part.encrypted
    }


def begins_last_answer_with_thought(last_messages: Sequence[dict[str, Any]]) -> bool:
    """Whether thinking by a budget may be on: within a turn of tool calls, the answer before began with a
    thought."""
    last = next((message for message in reversed(last_messages) if message["role"] == "assistant"), None)
    if last is None or last_messages[-1]["content"][0]["type"] != "tool_result":
        return True
    return last["content"][0]["type"] in {"thinking", "redacted_thinking"}


def _said(message: Message, ids: SentIds, refused_signatures: Collection[str]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in message.content:
        match part:
            case TextPart(text=text) if text.strip():
                blocks.append({"type": "text", "text": text})
            case ThinkPart(encrypted=str(signature)) if signature and signature not in refused_signatures:
                blocks.append(_thought(part.think, signature))
            case _:
                continue
    calls = message.tool_calls or ()
    for call, call_id in zip(calls, ids.name(calls), strict=True):
        blocks.append(
            {"type": "tool_use", "id": call_id, "name": called_name(call), "input": arguments_object(call)}
        )
    is_speechless = all(block["type"] in {"thinking", "redacted_thinking"} for block in blocks)
    return [] if is_speechless else blocks


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    *blocks, last = message["content"]
    return {**message, "content": [*blocks, last | _CACHED]}


def _thought(thought: str, signature: str) -> dict[str, Any]:
    if signature.startswith(REDACTED):
        return {"type": "redacted_thinking", "data": signature.removeprefix(REDACTED)}
    return {"type": "thinking", "thinking": thought, "signature": signature}


def _heard(message: Message, ids: SentIds) -> list[dict[str, Any]]:
    if message.role == "system":
        return _blocks((system_note(message.text),)) if message.text.strip() else []
    blocks = _blocks(message.content)
    if message.role != "tool":
        return blocks
    result: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": ids.of_result(message.tool_call_id or ""),
        "content": blocks or "(no output)",
    }
    return [result]


def _blocks(parts: Sequence[ContentPart]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case TextPart(text=text) if text.strip():
                blocks.append({"type": "text", "text": text})
            case ImageURLPart(image_url=address):
                blocks.append({"type": "image", "source": _source(address.url)})
            case AudioURLPart() | VideoURLPart():
                blocks.append({"type": "text", "text": "<system>A sound or film was left out.</system>"})
            case _:
                continue
    return blocks


def _source(url: str) -> dict[str, str]:
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    header, _, data = url.removeprefix("data:").partition(",")
    return {"type": "base64", "media_type": header.partition(";")[0] or "image/png", "data": data}
