"""Responses in the wire format of an Anthropic-compatible server."""

import json
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

from tests.llm.scripted_responses import Call, Quirk, ScriptedResponse

PATHS = ("/v1/messages",)


def events(response: ScriptedResponse) -> list[bytes]:
    """Return the frames of the stream."""
    end = b"\r\n" if response.has_quirk(Quirk.CRLF) else b"\n"
    frames = [_frame(event, end) for event in _events(response)]
    if response.has_quirk(Quirk.PINGS):
        frames = [frame for event in frames for frame in (_frame({"type": "ping"}, end), event)]
    return frames


def document(response: ScriptedResponse) -> bytes:
    """Return the response as one `message`."""
    content: list[dict[str, Any]] = []
    if response.thinking:
        content.append({"type": "thinking", "thinking": response.thinking, "signature": response.signature})
    if response.text:
        content.append({"type": "text", "text": response.text})
    for at, call in enumerate(response.tool_calls):
        content.append(
            {"type": "tool_use", "id": _id(response, call, at), "name": call.name, "input": call.arguments}
        )
    message = {**_message(response), "content": content, "stop_reason": _stop(response)}
    message["usage"]["output_tokens"] = response.usage[1]
    return json.dumps(message).encode()


def error_event(data: bytes) -> bytes:
    """Return an error inside the stream."""
    return b"event: error\ndata: " + data + b"\n\n"


def _events(response: ScriptedResponse) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": _message(response)}
    blocks = list(_blocks(response))
    calls = [
        list(_call_block(response, call, at, len(blocks) + at)) for at, call in enumerate(response.tool_calls)
    ]
    if response.has_quirk(Quirk.INTERLEAVED_CALLS):
        rows = chain.from_iterable(zip_longest(*calls))
        stream = (*chain.from_iterable(blocks), *(event for event in rows if event is not None))
    else:
        stream = (*chain.from_iterable(blocks), *chain.from_iterable(calls))
    for event in stream:
        if not (response.has_quirk(Quirk.NO_BLOCK_STOPS) and event["type"] == "content_block_stop"):
            yield event
    if not response.has_quirk(Quirk.NO_END):
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": _stop(response), "stop_sequence": None},
            "usage": {"output_tokens": response.usage[1]},
        }
        yield {"type": "message_stop"}


def _blocks(response: ScriptedResponse) -> Iterator[list[dict[str, Any]]]:
    index = 0
    if response.redacted:
        yield [_start(index, {"type": "redacted_thinking", "data": response.redacted}), _stopped(index)]
        index += 1
    if response.thinking:
        deltas = [
            {"type": "thinking_delta", "thinking": piece}
            for piece in _pieces(response.thinking, response.piece)
        ]
        if not response.has_quirk(Quirk.UNSIGNED):
            deltas.append({"type": "signature_delta", "signature": response.signature})
        yield _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        index += 1
    if response.text:
        texts = [{"type": "text_delta", "text": piece} for piece in _pieces(response.text, response.piece)]
        yield _block(index, {"type": "text", "text": ""}, texts)


def _call_block(response: ScriptedResponse, call: Call, at: int, index: int) -> Iterator[dict[str, Any]]:
    is_whole = response.has_quirk(Quirk.INPUT_AT_START)
    block = {"type": "tool_use", "id": _id(response, call, at), "name": call.name}
    yield _start(index, {**block, "input": call.arguments if is_whole else {}})
    for piece in () if is_whole else ("", *_pieces(call.text, response.piece)):
        yield _delta(index, {"type": "input_json_delta", "partial_json": piece})
    yield _stopped(index)


def _block(index: int, block: dict[str, Any], deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_start(index, block), *(_delta(index, delta) for delta in deltas), _stopped(index)]


def _start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _stopped(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def _message(response: ScriptedResponse) -> dict[str, Any]:
    sent, _, cached = response.usage
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "loopback",
        "content": [],
        "stop_reason": None,
        "usage": {
            "input_tokens": sent - cached,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        },
    }


def _id(response: ScriptedResponse, call: Call, at: int) -> str:
    if response.has_quirk(Quirk.EMPTY_IDS):
        return ""
    return "toolu_same" if response.has_quirk(Quirk.SAME_IDS) else call.id or f"toolu_{at}"


def _stop(response: ScriptedResponse) -> str:
    return response.stop or ("tool_use" if response.tool_calls else "end_turn")


def _frame(event: dict[str, Any], end: bytes) -> bytes:
    data = json.dumps(event, ensure_ascii=False).encode()
    return b"event: " + event["type"].encode() + end + b"data: " + data + end + end


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
