"""How an Anthropic-compatible server writes an answer."""

import json
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

from tests.llm.answers import Answer, Call, Quirk

PATHS = ("/v1/messages",)


def events(answer: Answer) -> list[bytes]:
    """The frames of the stream."""
    end = b"\r\n" if answer.has(Quirk.CRLF) else b"\n"
    frames = [_frame(event, end) for event in _events(answer)]
    if answer.has(Quirk.PINGS):
        frames = [frame for event in frames for frame in (_frame({"type": "ping"}, end), event)]
    return frames


def document(answer: Answer) -> bytes:
    """The answer as one `message`."""
    content: list[dict[str, Any]] = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": answer.signature})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for at, call in enumerate(answer.tool_calls):
        content.append(
            {"type": "tool_use", "id": _id(answer, call, at), "name": call.name, "input": call.arguments}
        )
    message = {**_message(answer), "content": content, "stop_reason": _stop(answer)}
    message["usage"]["output_tokens"] = answer.usage[1]
    return json.dumps(message).encode()


def error_event(data: bytes) -> bytes:
    """An error inside the stream."""
    return b"event: error\ndata: " + data + b"\n\n"


def _events(answer: Answer) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": _message(answer)}
    blocks = list(_blocks(answer))
    calls = [
        list(_call_block(answer, call, at, len(blocks) + at)) for at, call in enumerate(answer.tool_calls)
    ]
    if answer.has(Quirk.INTERLEAVED_CALLS):
        rows = chain.from_iterable(zip_longest(*calls))
        stream = (*chain.from_iterable(blocks), *(event for event in rows if event is not None))
    else:
        stream = (*chain.from_iterable(blocks), *chain.from_iterable(calls))
    for event in stream:
        if not (answer.has(Quirk.NO_BLOCK_STOPS) and event["type"] == "content_block_stop"):
            yield event
    if not answer.has(Quirk.NO_END):
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": _stop(answer), "stop_sequence": None},
            "usage": {"output_tokens": answer.usage[1]},
        }
        yield {"type": "message_stop"}


def _blocks(answer: Answer) -> Iterator[list[dict[str, Any]]]:
    index = 0
    if answer.redacted:
        yield [_start(index, {"type": "redacted_thinking", "data": answer.redacted}), _stopped(index)]
        index += 1
    if answer.thinking:
        deltas = [
            {"type": "thinking_delta", "thinking": piece} for piece in _pieces(answer.thinking, answer.piece)
        ]
        if not answer.has(Quirk.UNSIGNED):
            deltas.append({"type": "signature_delta", "signature": answer.signature})
        yield _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        index += 1
    if answer.text:
        texts = [{"type": "text_delta", "text": piece} for piece in _pieces(answer.text, answer.piece)]
        yield _block(index, {"type": "text", "text": ""}, texts)


def _call_block(answer: Answer, call: Call, at: int, index: int) -> Iterator[dict[str, Any]]:
    is_whole = answer.has(Quirk.INPUT_AT_START)
    block = {"type": "tool_use", "id": _id(answer, call, at), "name": call.name}
    yield _start(index, {**block, "input": call.arguments if is_whole else {}})
    for piece in () if is_whole else ("", *_pieces(call.text, answer.piece)):
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


def _message(answer: Answer) -> dict[str, Any]:
    sent, _, cached = answer.usage
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


def _id(answer: Answer, call: Call, at: int) -> str:
    if answer.has(Quirk.EMPTY_IDS):
        return ""
    return "toolu_same" if answer.has(Quirk.SAME_IDS) else call.id or f"toolu_{at}"


def _stop(answer: Answer) -> str:
    return answer.stop or ("tool_use" if answer.tool_calls else "end_turn")


def _frame(event: dict[str, Any], end: bytes) -> bytes:
    data = json.dumps(event, ensure_ascii=False).encode()
    return b"event: " + event["type"].encode() + end + b"data: " + data + end + end


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
