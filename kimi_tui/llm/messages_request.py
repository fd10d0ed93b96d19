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


def messages(
    history: Sequence[Message], *, refused_signatures: Collection[str] = frozenset()
) -> list[dict[str, Any]]:
    """`messages` of the request: user and assistant in turns, beginning with a user.

    Tool results follow their calls in one user message, before anything else that is said there. Thinking
    goes back only with the signature it came with, unless that was refused. Empty texts and messages are left
    out.
    """
    sent: list[dict[str, Any]] = []
    ids = SentIds(_IDS)
    for message in history:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _said(message, ids, refused_signatures) if role == "assistant" else _heard(message, ids)
        if not blocks:
            continue
        if role == "assistant" and not sent:
            sent.append({"role": "user", "content": _blocks((_BEFORE,))})
        if sent and sent[-1]["role"] == role:
            sent[-1]["content"] += blocks
        else:
            sent.append({"role": role, "content": blocks})
    return sent


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


def mark_for_cache(sent: Sequence[dict[str, Any]]) -> None:
    """Mark the ends of the last user messages of `sent`."""
    turns = [message for message in sent if message["role"] == "user"]
    for message in turns[-_CACHED_TURNS:]:
        message["content"][-1] |= _CACHED


def signatures(history: Sequence[Message]) -> set[str]:
    """The signatures that would go back with `history`."""
    return {
        part.encrypted
        for message in history
        for part in message.content
        if isinstance(part, ThinkPart) and part.encrypted
    }


def begins_last_answer_with_thought(sent: Sequence[dict[str, Any]]) -> bool:
    """Whether thinking by a budget may be on: within a turn of tool calls, the answer before began with a
    thought."""
    last = next((message for message in reversed(sent) if message["role"] == "assistant"), None)
    if last is None or sent[-1]["content"][0]["type"] != "tool_result":
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
