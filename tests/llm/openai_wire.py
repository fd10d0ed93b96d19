"""How an OpenAI-compatible server writes an answer."""

import json
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

from tests.llm.answers import Answer, Call, Quirk

PATHS = ("/chat/completions",)


def events(answer: Answer) -> list[bytes]:
    """The frames of the stream."""
    end = b"\r\n\r\n" if answer.has(Quirk.CRLF) else b"\n\n"
    frames = [b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + end for chunk in _chunks(answer)]
    if answer.has(Quirk.PINGS):
        frames = [frame for chunk in frames for frame in (b": keep-alive" + end, chunk)]
    if answer.has(Quirk.RETRY_LINES):
        frames = [frame for chunk in frames for frame in (b"retry: 3000" + end, chunk)]
    if not answer.has(Quirk.NO_DONE) and not answer.has(Quirk.NO_END):
        frames.append(b"data: [DONE]" + end)
    return frames


def document(answer: Answer) -> bytes:
    """The answer as one `chat.completion`."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": _id(answer, call, at),
                "type": "function",
                "function": {"name": call.name, "arguments": call.text},
            }
            for at, call in enumerate(answer.tool_calls)
        ]
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(answer)}],
        "usage": _usage(answer),
    }
    return json.dumps(completion).encode()


def error_event(data: bytes) -> bytes:
    """An error inside the stream."""
    return b"data: " + data + b"\n\n"


def _chunks(answer: Answer) -> Iterator[dict[str, Any]]:
    yield _chunk({"role": "assistant", "content": ""})
    field = "reasoning" if answer.has(Quirk.REASONING) else "reasoning_content"
    for piece in _pieces(answer.thinking, answer.piece):
        yield _chunk({field: piece})
    for piece in _pieces(answer.text, answer.piece):
        yield _chunk({"content": piece})
    for fragment in _fragments(answer):
        yield _chunk({"tool_calls": [fragment]})
    if answer.has(Quirk.NULL_DELTA):
        yield {**_chunk({}), "choices": [{"index": 0, "delta": None, "finish_reason": None}]}
    yield from _ending(answer)


def _ending(answer: Answer) -> Iterator[dict[str, Any]]:
    last = _chunk({}, None if answer.has(Quirk.NO_END) else _finish(answer))
    if answer.has(Quirk.USAGE_IN_CHOICE):
        last["choices"][0]["usage"] = _usage(answer)
    elif answer.has(Quirk.NULL_USAGE):
        last["usage"] = None
    yield last
    silent = {Quirk.USAGE_IN_CHOICE, Quirk.NULL_USAGE, Quirk.NO_USAGE}
    if not silent & answer.quirks:
        yield {**_chunk({}), "choices": [], "usage": _usage(answer)}


def _fragments(answer: Answer) -> Iterator[dict[str, Any]]:
    streams = [list(_call_fragments(answer, call, at)) for at, call in enumerate(answer.tool_calls)]
    if not answer.has(Quirk.INTERLEAVED_CALLS):
        yield from chain.from_iterable(streams)
        return
    for row in zip_longest(*streams):
        yield from (fragment for fragment in row if fragment is not None)


def _call_fragments(answer: Answer, call: Call, at: int) -> Iterator[dict[str, Any]]:
    for count, piece in enumerate(("", *_pieces(call.text, answer.piece))):
        is_named = not count or answer.has(Quirk.REPEATED_IDS)
        function = {"name": call.name, "arguments": piece} if is_named else {"arguments": piece}
        fragment: dict[str, Any] = {"index": at, "type": "function", "function": function}
        if is_named:
            fragment["id"] = _id(answer, call, at)
        if answer.has(Quirk.FRESH_IDS):
            fragment["id"] = f"fresh_{at}_{count}"
        if answer.has(Quirk.INDEX_ZERO):
            fragment["index"] = 0
        if answer.has(Quirk.NO_INDEX):
            del fragment["index"]
        yield fragment


def _id(answer: Answer, call: Call, at: int) -> str:
    if answer.has(Quirk.EMPTY_IDS):
        return ""
    return "call_same" if answer.has(Quirk.SAME_IDS) else call.id or f"call_{at}"


def _finish(answer: Answer) -> str:
    usual = "tool_calls" if answer.tool_calls and not answer.has(Quirk.STOP_BESIDE_CALLS) else "stop"
    return answer.stop or usual


def _usage(answer: Answer) -> dict[str, Any]:
    sent, received, cached = answer.usage
    if answer.has(Quirk.USAGE_IN_CHOICE):
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
