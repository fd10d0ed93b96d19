"""Responses in the wire format of OpenAI's Responses API."""

import json
from collections.abc import Iterator
from typing import Any

from tests.llm.scripted_responses import Call, Quirk, ScriptedResponse

PATHS = ("/responses",)


def events(response: ScriptedResponse) -> list[bytes]:
    """Return the frames of the stream, as OpenAI sends them: each with its type as the event's name."""
    end = b"\r\n\r\n" if response.has_quirk(Quirk.CRLF) else b"\n\n"
    frames = []
    for number, event in enumerate(_events(response)):
        data = json.dumps({**event, "sequence_number": number}, ensure_ascii=False)
        frames.append(f"event: {event['type']}\ndata: {data}".encode() + end)
        if response.has_quirk(Quirk.PINGS):
            frames.append(b": keep-alive" + end)
    return frames


def document(response: ScriptedResponse) -> bytes:
    """Return the response as one `response` object."""
    return json.dumps(_response(response, _items(response))).encode()


def error_event(data: bytes) -> bytes:
    """Return an error inside the stream."""
    return b"event: error\ndata: " + data + b"\n\n"


def _events(response: ScriptedResponse) -> Iterator[dict[str, Any]]:
    unfinished = {**_response(response, []), "status": "in_progress", "usage": None}
    yield {"type": "response.created", "response": unfinished}
    yield {"type": "response.in_progress", "response": unfinished}
    for index, item in enumerate(_items(response)):
        match item["type"]:
            case "reasoning":
                yield from _reasoning_events(response, item, index)
            case "message":
                yield from _message_events(response, item, index)
            case _:
                yield from _call_events(response, item, index)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    if not response.has_quirk(Quirk.NO_END):
        yield _last_event(response)


def _last_event(response: ScriptedResponse) -> dict[str, Any]:
    kind = "response.incomplete" if response.stop else "response.completed"
    return {"type": kind, "response": _response(response, _items(response))}


def _reasoning_events(
    response: ScriptedResponse, item: dict[str, Any], index: int
) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index}
    added = {**item, "summary": [], "encrypted_content": "incomplete"}
    yield {"type": "response.output_item.added", "output_index": index, "item": added}
    for number, part in enumerate(item["summary"]):
        at = {**place, "summary_index": number}
        empty = {"type": "summary_text", "text": ""}
        yield {"type": "response.reasoning_summary_part.added", **at, "part": empty}
        for piece in _pieces(part["text"], response.piece):
            yield {"type": "response.reasoning_summary_text.delta", **at, "delta": piece}
        yield {"type": "response.reasoning_summary_text.done", **at, "text": part["text"]}
        yield {"type": "response.reasoning_summary_part.done", **at, "part": part}


def _message_events(response: ScriptedResponse, item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    [part] = item["content"]
    added = {**item, "content": [], "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": added}
    yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
    for piece in _pieces(part["text"], response.piece):
        yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}


def _call_events(response: ScriptedResponse, item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    at = {"item_id": item["id"], "output_index": index}
    added = {**item, "arguments": "", "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": added}
    for piece in _pieces(item["arguments"], response.piece):
        yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **at, "arguments": item["arguments"]}


def _items(response: ScriptedResponse) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if response.thinking:
        items.append(
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [
                    {"type": "summary_text", "text": text} for text in response.thinking.split("\n\n")
                ],
                "encrypted_content": response.signature,
            }
        )
    if response.text:
        content = [{"type": "output_text", "text": response.text, "annotations": []}]
        items.append(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        )
    return items + [_call(response, call, at) for at, call in enumerate(response.tool_calls)]


def _call(response: ScriptedResponse, call: Call, at: int) -> dict[str, Any]:
    call_id = call.id or f"call_{at}"
    if response.has_quirk(Quirk.SAME_IDS):
        call_id = "call_same"
    if response.has_quirk(Quirk.EMPTY_IDS):
        call_id = ""
    return {
        "type": "function_call",
        "id": f"fc_{at}" if call_id else "",
        "call_id": call_id,
        "name": call.name,
        "arguments": call.text,
        "status": "completed",
    }


def _response(response: ScriptedResponse, output: list[dict[str, Any]]) -> dict[str, Any]:
    sent, received, cached = response.usage
    return {
        "id": "resp_1",
        "object": "response",
        "status": "incomplete" if response.stop else "completed",
        "error": None,
        "incomplete_details": {"reason": response.stop} if response.stop else None,
        "output": output,
        "usage": {
            "input_tokens": sent,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
            "output_tokens": received,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sent + received,
        },
    }


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
