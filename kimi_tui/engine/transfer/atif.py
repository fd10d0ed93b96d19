"""Conversations as ATIF trajectories, the format of Harbor.

A step is a message of the user or the system, or a response with its tool calls and their results. Data that
the format can't express is kept in the step's `extra.kimi_tui`, so that an import restores the same messages.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.base.message import FunctionCall, Message, ToolCall
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.version import __version__

SCHEMA_VERSION = "ATIF-v1.7"
_PREFIX = "ATIF-"
_EXTRA = "kimi_tui"
_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def to_atif(
    history: Sequence[Message],
    *,
    title: str,
    session_id: str,
    model: str,
    usage: TokenUsage = TokenUsage(),
    cost_usd: float | None = None,
) -> str:
    """Return the conversation as a JSON document. `history` must have a message."""
    steps = [_build_step(number, messages, model) for number, messages in enumerate(_group_steps(history), 1)]
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "session_id": session_id,
        "agent": {"name": "kimi-tui", "version": __version__, **({"model_name": model} if model else {})},
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": usage.input,
            "total_completion_tokens": usage.output,
            "total_cached_tokens": usage.input_cache_read,
            **({"total_cost_usd": cost_usd} if cost_usd is not None else {}),
            "total_steps": len(steps),
        },
        "extra": {"title": title},
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def parse_atif(text: str) -> tuple[str, tuple[Message, ...]] | None:
    """Return the title and the messages of a trajectory, or None if `text` is something else."""
    try:
        document = json.loads(text)
        if not str(document["schema_version"]).startswith(_PREFIX):
            return None
        messages = tuple(message for step in document["steps"] for message in _messages_of(step))
        return str((document.get("extra") or {}).get("title", "")), messages
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _group_steps(history: Iterable[Message]) -> list[list[Message]]:
    """Return the messages of each step: a response together with the results of its calls."""
    steps: list[list[Message]] = []
    open_calls: set[str] = set()
    for message in history:
        if message.role == "tool" and message.tool_call_id in open_calls:
            open_calls.discard(message.tool_call_id)
            steps[-1].append(message)
            continue
        open_calls = {call.id for call in message.tool_calls or ()}
        steps.append([message])
    return steps


def _build_step(number: int, messages: Sequence[Message], model: str) -> dict[str, Any]:
    step: dict[str, Any] = {"step_id": number, **_describe(messages, model)}
    restored = [to_jsonable(message) for message in _standard_messages(step)]
    originals = [to_jsonable(message) for message in messages]
    if restored != originals:
        step["extra"] = {_EXTRA: {"messages": originals}}
    return step


def _describe(messages: Sequence[Message], model: str) -> dict[str, Any]:
    """Return the standard fields of a step."""
    first = messages[0]
    if first.role == "tool":  # a result whose call was lost
        return {"source": "system", "message": "", "observation": {"results": [{"content": _content(first)}]}}
    if first.role != "assistant":
        source = "user" if first.role == "user" else "system"
        return {"source": source, "message": _content(first)}
    step: dict[str, Any] = {"source": "agent", "message": _content(first)}
    if model:
        step["model_name"] = model
    thinking = "".join(part.think for part in first.content if isinstance(part, ThinkPart))
    if thinking:
        step["reasoning_content"] = thinking
    if first.tool_calls:
        step["tool_calls"] = [
            {
                "tool_call_id": call.id,
                "function_name": call.function.name,
                "arguments": _arguments(call.function.arguments),
            }
            for call in first.tool_calls
        ]
    if len(messages) > 1:
        step["observation"] = {
            "results": [
                {"source_call_id": message.tool_call_id, "content": _content(message)}
                for message in messages[1:]
            ]
        }
    return step


def _content(message: Message) -> str | list[dict[str, Any]]:
    """Return the text of a message, or its parts if the message has an image."""
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    images = [part for part in message.content if isinstance(part, ImageURLPart)]
    if not images:
        return "\n\n".join(texts)
    parts: list[dict[str, Any]] = []
    for part in message.content:
        if isinstance(part, TextPart):
            parts.append({"type": "text", "text": part.text})
        elif isinstance(part, ImageURLPart):
            source = {"media_type": _media_type(part.image_url.url), "path": part.image_url.url}
            parts.append({"type": "image", "source": source})
    return parts


def _media_type(url: str) -> str:
    declared = url.removeprefix("data:").partition(";")[0]
    return declared if declared in _IMAGE_TYPES else "image/png"


def _arguments(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {"text": text}
    return value if isinstance(value, dict) else {"value": value}


def _messages_of(step: dict[str, Any]) -> list[Message]:
    own = (step.get("extra") or {}).get(_EXTRA)
    if own is not None:
        return [from_jsonable(Message, message) for message in own["messages"]]
    return _standard_messages(step)


def _standard_messages(step: dict[str, Any]) -> list[Message]:
    """Return the messages that the standard fields of a step describe."""
    content = list(_parts(step["message"]))
    if step["source"] != "agent":
        results = [_result(result) for result in (step.get("observation") or {}).get("results", ())]
        return [Message("user" if step["source"] == "user" else "system", tuple(content)), *results]
    if step.get("reasoning_content"):
        content.insert(0, ThinkPart(step["reasoning_content"]))
    calls = tuple(
        ToolCall(
            call["tool_call_id"],
            FunctionCall(call["function_name"], json.dumps(call["arguments"], ensure_ascii=False)),
        )
        for call in step.get("tool_calls") or ()
    )
    results = [_result(result) for result in (step.get("observation") or {}).get("results", ())]
    answered = {result.tool_call_id for result in results}
    missing = [
        Message("tool", (TextPart("No result was recorded."),), tool_call_id=call.id)
        for call in calls
        if call.id not in answered
    ]
    return [Message("assistant", tuple(content), tool_calls=calls or None), *results, *missing]


def _result(result: dict[str, Any]) -> Message:
    content = tuple(_parts(result.get("content") or ""))
    return Message("tool", content, tool_call_id=result.get("source_call_id"))


def _parts(content: str | list[dict[str, Any]]) -> Iterable[TextPart | ImageURLPart | ThinkPart]:
    if isinstance(content, str):
        if content:
            yield TextPart(content)
        return
    for part in content:
        if part["type"] == "text":
            yield TextPart(part["text"])
        elif part["type"] == "image":
            yield ImageURLPart(MediaURL(part["source"]["path"]))
