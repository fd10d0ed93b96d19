import json
from typing import Any

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProviderError,
    ContextTooLong,
)
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.anthropic.request import TurnMessages
from kimi_tui.llm.openai.responses_request import InputItems
from tests.llm.conversations import HELLO, PIXEL, READ_FILE, CollectedResponse, ask, provider_for, results
from tests.llm.servers import Call, Fault, Quirk, ResponsesServer, ScriptedResponse

TWO_CALLS = (Call("ReadFile", {"path": "a\u2028.py"}), Call("ReadFile", {"path": "bé.py"}))
SENT_CALLS = [(call.name, call.text) for call in TWO_CALLS]
EVERYTHING = ScriptedResponse(
    thinking="Let me see.\n\nTwo files.", signature="gAAAB==", text="Here: ✨", tool_calls=TWO_CALLS
)


async def reply_to(*script: Any, **settings: Any) -> CollectedResponse:
    async with ResponsesServer(script) as server:
        provider = provider_for("openai_responses", server.base_url, **{"model": "gpt-5.4", **settings})
        try:
            return await ask(provider, tools=[READ_FILE])
        finally:
            await provider.aclose()


async def request_for(*history: Message, effort: Any = None, **settings: Any) -> dict[str, Any]:
    """Return the body of the request for `history`."""
    async with ResponsesServer([ScriptedResponse(text="ok")]) as server:
        provider = provider_for("openai_responses", server.base_url, **{"model": "gpt-5.4", **settings})
        if effort is not None:
            provider = provider.with_thinking(effort)
        await ask(provider, history or HELLO, tools=[READ_FILE])
        await provider.aclose()
        return server.bodies[0]


def stream(*events: dict[str, Any]) -> Fault:
    return Fault.raw(b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events))


def completed(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"id": "resp_1", "output": list(output), **fields}}


async def test_a_response_streams_as_thinking_text_calls_and_usage():
    reply = await reply_to(EVERYTHING)
    assert (reply.thought, reply.text, reply.calls) == ("Let me see.\n\nTwo files.", "Here: ✨", SENT_CALLS)
    assert reply.usage == TokenUsage(input_other=60, output=20, input_cache_read=40)
    assert reply.message_id == "resp_1"
    assert len(reply.parts) > 8


@pytest.mark.parametrize(
    "quirk", [Quirk.PLAIN_JSON, Quirk.CRLF, Quirk.PINGS, Quirk.SAME_IDS, Quirk.EMPTY_IDS]
)
async def test_a_response_is_the_same_for_every_server_quirk(quirk: Quirk):
    reply = await reply_to(
        ScriptedResponse(thinking="Hm.", text="Two.", tool_calls=TWO_CALLS, quirks=frozenset({quirk}))
    )
    assert (reply.thought, reply.text, reply.calls) == ("Hm.", "Two.", SENT_CALLS)
    assert len({call.id for call in reply.message.tool_calls or ()}) == 2
    assert reply.usage == TokenUsage(input_other=60, output=20, input_cache_read=40)


async def test_encrypted_reasoning_is_sent_back_before_what_it_led_to():
    async with ResponsesServer([EVERYTHING, ScriptedResponse(text="Done.")]) as server:
        provider = provider_for("openai_responses", server.base_url, model="gpt-5.4")
        reply = await ask(provider, tools=[READ_FILE])
        history = [*HELLO, reply.message, *results(reply.message, "one", "two")]
        await ask(provider, history, tools=[READ_FILE])
        await provider.aclose()
    first, second = server.bodies
    assert second["input"][: len(first["input"])] == first["input"]
    assert second["input"][1:] == [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Let me see.\n\nTwo files."}],
            "encrypted_content": "gAAAB==",
        },
        {"type": "message", "role": "assistant", "content": "Here: ✨"},
        *(
            {"type": "function_call", "call_id": f"call_{at}", "name": "ReadFile", "arguments": call.text}
            for at, call in enumerate(TWO_CALLS)
        ),
        {"type": "function_call_output", "call_id": "call_0", "output": "one"},
        {"type": "function_call_output", "call_id": "call_1", "output": "two"},
    ]


async def test_the_server_stores_nothing_and_is_asked_for_encrypted_reasoning():
    body = await request_for(session_id="s1", max_output_tokens=900)
    assert (body["store"], body["stream"]) == (False, True)
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["instructions"] == "You are a test."
    assert (body["prompt_cache_key"], body["max_output_tokens"]) == ("s1", 900)
    assert body["tools"][0] == {
        "type": "function",
        "name": "ReadFile",
        "description": "Reads a file.",
        "parameters": READ_FILE.parameters,
        "strict": False,
    }


@pytest.mark.parametrize(
    ("model", "effort", "reasoning"),
    [
        ("gpt-5.4", "high", {"effort": "high", "summary": "auto"}),
        ("gpt-5.4", "low", {"effort": "low", "summary": "auto"}),
        ("gpt-5.4", None, {"summary": "auto"}),
        ("gpt-5.4", "off", {"effort": "none"}),
        ("gpt-5", "off", {"effort": "minimal"}),
        ("gpt-5.3-codex", "off", {"effort": "none"}),
        ("o3", "off", {"effort": "low"}),
        ("gpt-4.1", "high", None),
    ],
)
async def test_the_thinking_effort_becomes_the_reasoning_effort(model, effort, reasoning):
    body = await request_for(model=model, effort=effort)
    assert body.get("reasoning") == reasoning
    assert ("include" in body) == (reasoning is not None)


async def test_images_of_prompts_and_of_tool_results_are_sent():
    image = ImageURLPart(MediaURL(PIXEL))
    call = ToolCall("call_1", FunctionCall("ReadFile", "{}"))
    body = await request_for(
        Message("user", (TextPart("What is it?"), image)),
        Message("assistant", (), (call,)),
        Message("tool", (TextPart("An image:"), image), tool_call_id="call_1"),
    )
    encoded = {"type": "input_image", "image_url": PIXEL, "detail": "auto"}
    assert body["input"][0]["content"] == [{"type": "input_text", "text": "What is it?"}, encoded]
    assert body["input"][2]["output"] == [{"type": "input_text", "text": "An image:"}, encoded]


async def test_thinking_of_other_providers_is_not_sent():
    thought = ThinkPart("Hm.", "c2lnbmF0dXJl")
    body = await request_for(*HELLO, Message("assistant", (thought, TextPart("Hi."))), user_message("more"))
    assert [item["type"] for item in body["input"]] == ["message"] * 3


def test_reasoning_of_this_api_is_not_sent_to_anthropic():
    encoder = TurnMessages()
    encoder.encode(user_message("hello"))
    encoder.encode(Message("assistant", (ThinkPart("Hm.", "reasoning:rs_1:gAAA"), TextPart("Hi."))))
    assert "gAAA" not in str(encoder.trailing_messages)


def test_reasoning_that_nothing_follows_is_omitted():
    encoder = InputItems()
    assert encoder.encode(Message("assistant", (ThinkPart("Hm.", "reasoning:rs_1:gAAA"),))) == []


def test_reasoning_between_calls_keeps_its_place():
    calls = tuple(ToolCall(f"call_{n}", FunctionCall("ReadFile", "{}")) for n in range(2))
    later = ThinkPart("Then.", "reasoning:rs_2:b", calls_before=1)
    items = InputItems().encode(Message("assistant", (ThinkPart("", "reasoning:rs_1:a"), later), calls))
    assert [item["type"] for item in items] == ["reasoning", "function_call", "reasoning", "function_call"]


async def test_a_rejected_reasoning_item_is_omitted_from_then_on():
    rejection = Fault.status_is(
        400, {"message": "The encrypted content gAAA... could not be verified.", "code": "invalid_encrypted"}
    )
    thought = ThinkPart("Hm.", "reasoning:rs_1:gAAA")
    history = [*HELLO, Message("assistant", (thought, TextPart("Hi."))), user_message("more")]
    async with ResponsesServer([rejection, ScriptedResponse(text="a"), ScriptedResponse(text="b")]) as server:
        provider = provider_for("openai_responses", server.base_url, model="gpt-5.4")
        assert (await ask(provider, history)).text == "a"
        assert (await ask(provider, history)).text == "b"
        await provider.aclose()
    assert ["gAAA" in str(body) for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize(
    ("message", "omitted"),
    [
        ("Your organization must be verified to generate reasoning summaries.", "summary"),
        ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", "effort"),
        ("Unknown parameter: 'prompt_cache_key'.", "prompt_cache_key"),
        ("Unknown parameter: 'include'.", "include"),
    ],
)
async def test_a_rejected_optional_field_is_omitted_from_then_on(message: str, omitted: str):
    async with ResponsesServer(
        [Fault.status_is(400, {"message": message}), ScriptedResponse(text="a"), ScriptedResponse(text="b")]
    ) as server:
        provider = provider_for("openai_responses", server.base_url, model="gpt-5.4", session_id="s")
        provider = provider.with_thinking("high")
        assert (await ask(provider)).text == "a"
        assert (await ask(provider)).text == "b"
        await provider.aclose()
    assert [f"'{omitted}'" in str(body) for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.status_is(401), APIStatusError),
        (Fault.status_is(429, headers={"retry-after": "7"}), APIStatusError),
        (Fault.status_is(400, {"message": "too long", "code": "context_length_exceeded"}), ContextTooLong),
        (Fault.reset_after(6), APIConnectionError),
        (Fault.cut_after(6), APIConnectionError),
        (Fault.end_after(6), APIConnectionError),
        (Fault.malformed_after(6), APIConnectionError),
        (Fault.empty(), APIEmptyResponseError),
        (Fault.end_after(2), APIEmptyResponseError),
        (Fault.raw(b"<html><title>Login</title></html>", content_type="text/html"), ChatProviderError),
        (Fault.raw(b"[]", content_type="application/json"), APIConnectionError),
    ],
)
async def test_a_failure_is_reported_as_its_kind_of_error(fault: Fault, error: type[Exception]):
    with pytest.raises(error) as caught:
        await reply_to(fault)
    assert type(caught.value) is error or error is ChatProviderError


async def test_a_stream_that_stalls_times_out():
    with pytest.raises(APITimeoutError):
        await reply_to(Fault.stall_after(6), idle_timeout_s=0.3)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": "rate_limit_exceeded", "message": "Slow down."}, 429),
        ({"code": "server_error", "message": "Oops."}, 500),
        ({"code": "invalid_prompt", "message": "No."}, 400),
    ],
)
@pytest.mark.parametrize("kind", ["error", "response.failed"])
async def test_an_error_inside_the_stream_has_a_status(error: dict[str, str], status: int, kind: str):
    event = {"type": "error", **error}
    if kind == "response.failed":
        event = {"type": kind, "response": {"id": "resp_1", "status": "failed", "error": error}}
    with pytest.raises(APIStatusError) as caught:
        await reply_to(Fault.error_after(5, event) if kind == "error" else stream(event))
    assert caught.value.status_code == status


async def test_a_response_at_the_output_limit_keeps_its_text():
    reply = await reply_to(ScriptedResponse(text="Half a", stop="max_output_tokens"))
    assert reply.text == "Half a"


async def test_a_response_stopped_by_a_content_filter_is_declined():
    with pytest.raises(ChatProviderError, match="declined"):
        await reply_to(ScriptedResponse(text="Half a", stop="content_filter"))


async def test_a_response_of_thinking_alone_is_empty():
    with pytest.raises(APIEmptyResponseError):
        await reply_to(ScriptedResponse(thinking="Hm.", stop="max_output_tokens"))


async def test_output_that_was_not_streamed_comes_from_the_complete_response():
    message = {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}
    call = {"type": "function_call", "call_id": "c1", "name": "ReadFile", "arguments": '{"path": "a"}'}
    reply = await reply_to(stream(completed(message, call)))
    assert (reply.text, reply.calls) == ("Hi.", [("ReadFile", '{"path": "a"}')])


async def test_texts_of_several_messages_are_separate_paragraphs():
    messages = [{"type": "message", "content": [{"type": "output_text", "text": text}]} for text in "ab"]
    reply = await reply_to(stream(completed(*messages)))
    assert reply.text == "a\n\nb"


async def test_parallel_calls_may_interleave():
    def call(at: int) -> dict[str, Any]:
        return {"type": "function_call", "call_id": f"c{at}", "name": "ReadFile", "arguments": ""}

    def delta(at: int, text: str) -> dict[str, Any]:
        return {"type": "response.function_call_arguments.delta", "output_index": at, "delta": text}

    added = [{"type": "response.output_item.added", "output_index": at, "item": call(at)} for at in range(2)]
    reply = await reply_to(
        stream(
            *added, delta(0, '{"path":'), delta(1, '{"path":'), delta(0, "1}"), delta(1, "2}"), completed()
        )
    )
    assert reply.calls == [("ReadFile", '{"path":1}'), ("ReadFile", '{"path":2}')]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.output_text.delta", "output_index": None, "delta": None},
        {"type": "response.output_item.added", "output_index": 7, "item": "x"},
        {"type": "response.output_item.done", "output_index": "x", "item": {"type": 5}},
        {"type": "response.output_item.done", "output_index": 3, "item": {"type": "web_search_call"}},
        {"type": "response.output_item.done", "output_index": 4, "item": {"type": "reasoning", "summary": 3}},
        {"type": "response.function_call_arguments.delta", "output_index": 9, "delta": "{}"},
        {"type": "response.created", "response": []},
        {"type": ["response.created"]},
        {"type": "response.something_new", "delta": {}},
    ],
)
async def test_malformed_and_unknown_events_are_ignored(event: dict[str, Any]):
    text = {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi."}
    reply = await reply_to(stream(event, text, event, completed(usage="none")))
    assert (reply.text, reply.calls, reply.usage) == ("Hi.", [], None)


async def test_a_call_without_a_name_is_malformed():
    item = {"type": "function_call", "call_id": "c1", "arguments": "{}"}
    with pytest.raises(APIConnectionError):
        await reply_to(stream({"type": "response.output_item.done", "output_index": 0, "item": item}))


async def test_a_server_without_this_api_is_reported_with_advice():
    with pytest.raises(APIStatusError) as caught:
        await reply_to(Fault.status_is(404, {"message": "Not Found"}))
    assert 'type = "openai"' in caught.value.hint
