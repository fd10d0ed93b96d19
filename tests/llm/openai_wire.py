"""Responses in the wire format of an OpenAI-compatible server."""

import json
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

from tests.llm.scripted_responses import Call, Quirk, ScriptedResponse

PATHS = ("/chat/completions",)


def events(response: ScriptedResponse) -> list[bytes]:
    """Return the frames of the stream."""
    end = b"\r\n\r\n" if response.has_quirk(Quirk.CRLF) else b"\n\n"
    frames = [b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + end for chunk in _chunks(response)]
    if response.has_quirk(Quirk.PINGS):
        frames = [frame for chunk in frames for frame in (b": keep-alive" + end, chunk)]
    if response.has_quirk(Quirk.RETRY_LINES):
        frames = [frame for chunk in frames for frame in (b"retry: 3000" + end, chunk)]
    if not response.has_quirk(Quirk.NO_DONE) and not response.has_quirk(Quirk.NO_END):
        frames.append(b"data: [DONE]" + end)
    return frames


def document(response: ScriptedResponse) -> bytes:
    """Return the response as one `chat.completion`."""
    message: dict[str, Any] = {"role": "assistant", "content": response.text or None}
    if response.thinking:
        message["reasoning_content"] = response.thinking
    if response.tool_calls:
        message["tool_calls"] = [
            {
                "id": _id(response, call, at),
                "type": "function",
                "function": {"name": call.name, "arguments": call.text},
            }
            for at, call in enumerate(response.tool_calls)
        ]
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(response)}],
        "usage": _usage(response),
    }
    return json.dumps(completion).encode()


def error_event(data: bytes) -> bytes:
    """Return an error inside the stream."""
    return b"data: " + data + b"\n\n"


def _chunks(response: ScriptedResponse) -> Iterator[dict[str, Any]]:
    yield _chunk({"role": "assistant", "content": ""})
    field = "reasoning" if response.has_quirk(Quirk.REASONING) else "reasoning_content"
    for piece in _pieces(response.thinking, response.piece):
        yield _chunk({field: piece})
    for piece in _pieces(response.text, response.piece):
        yield _chunk({"content": piece})
    for fragment in _fragments(response):
        yield _chunk({"tool_calls": [fragment]})
    if response.has_quirk(Quirk.NULL_DELTA):
        yield {**_chunk({}), "choices": [{"index": 0, "delta": None, "finish_reason": None}]}
    yield from _ending(response)


def _ending(response: ScriptedResponse) -> Iterator[dict[str, Any]]:
    last = _chunk({}, None if response.has_quirk(Quirk.NO_END) else _finish(response))
    if response.has_quirk(Quirk.USAGE_IN_CHOICE):
        last["choices"][0]["usage"] = _usage(response)
    elif response.has_quirk(Quirk.NULL_USAGE):
        last["usage"] = None
    yield last
    no_usage_event = {Quirk.USAGE_IN_CHOICE, Quirk.NULL_USAGE, Quirk.NO_USAGE}
    if not no_usage_event & response.quirks:
        yield {**_chunk({}), "choices": [], "usage": _usage(response)}


def _fragments(response: ScriptedResponse) -> Iterator[dict[str, Any]]:
    streams = [list(_call_fragments(response, call, at)) for at, call in enumerate(response.tool_calls)]
    if not response.has_quirk(Quirk.INTERLEAVED_CALLS):
        yield from chain.from_iterable(streams)
        return
    for row in zip_longest(*streams):
        yield from (fragment for fragment in row if fragment is not None)


def _call_fragments(response: ScriptedResponse, call: Call, at: int) -> Iterator[dict[str, Any]]:
    for count, piece in enumerate(("", *_pieces(call.text, response.piece))):
        is_named = not count or response.has_quirk(Quirk.REPEATED_IDS)
        function = {"name": call.name, "arguments": piece} if is_named else {"arguments": piece}
        fragment: dict[str, Any] = {"index": at, "type": "function", "function": function}
        if is_named:
            fragment["id"] = _id(response, call, at)
        if response.has_quirk(Quirk.FRESH_IDS):
            fragment["id"] = f"fresh_{at}_{count}"
        if response.has_quirk(Quirk.INDEX_ZERO):
            fragment["index"] = 0
        if response.has_quirk(Quirk.NO_INDEX):
            del fragment["index"]
        yield fragment


def _id(response: ScriptedResponse, call: Call, at: int) -> str:
    if response.has_quirk(Quirk.EMPTY_IDS):
        return ""
    return "call_same" if response.has_quirk(Quirk.SAME_IDS) else call.id or f"call_{at}"


def _finish(response: ScriptedResponse) -> str:
    default = (
        "tool_calls" if response.tool_calls and not response.has_quirk(Quirk.STOP_WITH_CALLS) else "stop"
    )
    return response.stop or default


def _usage(response: ScriptedResponse) -> dict[str, Any]:
    sent, received, cached = response.usage
    if response.has_quirk(Quirk.USAGE_IN_CHOICE):
        return {"prompt_tokens": sent, "completion_tokens": received, "cached_tokens": cached}
    return {
        "prompt_tokens": sent,
        "completion_tokens": received,
        "total_tokens": sent + received,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "loopback",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
