import json

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
from kimi_tui.base.message import Message, user_message
from kimi_tui.base.token_usage import TokenUsage
from tests.llm.conversations import HELLO, PIXEL, READ_FILE, CollectedResponse, ask, provider_for, results
from tests.llm.servers import (
    AnthropicServer,
    Call,
    Fault,
    Quirk,
    ScriptedResponse,
    assert_prefix_extension,
    assert_valid_request,
)

TWO_CALLS = (Call("ReadFile", {"path": "a\u2028.py"}), Call("ReadFile", {"path": "bé.py"}))
SENT_CALLS = [(call.name, call.arguments) for call in TWO_CALLS]


async def reply_to(*script, **settings) -> CollectedResponse:
    async with AnthropicServer(script) as server:
        provider = provider_for("anthropic", server.base_url, **settings)
        try:
            return await ask(provider, tools=[READ_FILE])
        finally:
            await provider.aclose()


def arguments(reply: CollectedResponse) -> list[tuple[str, object]]:
    return [(name, json.loads(text)) for name, text in reply.calls]


def stream(*events: dict) -> Fault:
    return Fault.raw(b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events))


async def test_a_response_streams_as_thinking_text_calls_and_usage():
    reply = await reply_to(ScriptedResponse(thinking="Let me see.", text="Here: ✨", tool_calls=TWO_CALLS))
    assert reply.message.content == (ThinkPart("Let me see.", "c2lnbmF0dXJl"), TextPart("Here: ✨"))
    assert arguments(reply) == SENT_CALLS
    assert reply.usage == TokenUsage(input_other=60, output=20, input_cache_read=40)
    assert reply.message_id == "msg_1"


@pytest.mark.parametrize(
    "quirks",
    [
        {Quirk.PINGS, Quirk.CRLF},
        {Quirk.NO_BLOCK_STOPS},
        {Quirk.INPUT_AT_START},
        {Quirk.INPUT_AT_START, Quirk.NO_BLOCK_STOPS},
        {Quirk.INTERLEAVED_CALLS},
        {Quirk.SAME_IDS},
        {Quirk.EMPTY_IDS},
        {Quirk.PLAIN_JSON},
    ],
    ids=lambda quirks: "+".join(sorted(quirk.name for quirk in quirks)),
)
async def test_a_response_is_the_same_for_every_server_quirk(quirks: set[Quirk]):
    reply = await reply_to(
        ScriptedResponse(thinking="Hm.", text="Two files.", tool_calls=TWO_CALLS, quirks=frozenset(quirks))
    )
    assert reply.message.content == (ThinkPart("Hm.", "c2lnbmF0dXJl"), TextPart("Two files."))
    assert arguments(reply) == SENT_CALLS
    ids = [call.id for call in reply.message.tool_calls or ()]
    assert all(ids)
    assert len(set(ids)) == 2
    assert reply.usage == TokenUsage(input_other=60, output=20, input_cache_read=40)


async def test_without_a_stop_reason_text_is_incomplete_but_complete_calls_count():
    with pytest.raises(APIConnectionError):
        await reply_to(ScriptedResponse(text="Hello", quirks=frozenset({Quirk.NO_END})))
    reply = await reply_to(ScriptedResponse(tool_calls=TWO_CALLS, quirks=frozenset({Quirk.NO_END})))
    assert arguments(reply) == SENT_CALLS


async def test_a_call_without_arguments_is_a_call():
    reply = await reply_to(ScriptedResponse(tool_calls=(Call("LS", ""),)))
    assert reply.calls == [("LS", "")]


async def test_a_call_without_its_arguments_is_incomplete():
    with pytest.raises(APIConnectionError):
        await reply_to(Fault.end_after(2, ScriptedResponse(tool_calls=(Call("LS", {"path": "."}),))))


async def test_unexpected_events_are_ignored():
    reply = await reply_to(
        stream(
            {"type": "ping"},
            {"type": "message_start"},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "server_tool_use", "id": "s"},
            },
            {"type": "content_block_start", "index": 1, "content_block": None},
            {
                "type": "content_block_delta",
                "index": [9],
                "delta": {"type": "input_json_delta", "partial_json": "{"},
            },
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "fine"}},
            {"type": "content_block_delta", "delta": {"type": "news_delta", "text": "?"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": None}},
            {"type": "message_stop"},
        )
    )
    assert (reply.text, reply.usage) == ("fine", None)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.reset_after(5), APIConnectionError),
        (Fault.cut_after(5), APIConnectionError),
        (Fault.end_after(5), APIConnectionError),
        (Fault.malformed_after(4), APIConnectionError),
        (Fault.empty(), APIEmptyResponseError),
        (Fault.end_after(2), APIEmptyResponseError),
    ],
    ids=["reset", "cut", "ended", "truncated", "empty", "no word"],
)
async def test_an_incomplete_response_is_retryable(fault: Fault, error: type[ChatProviderError]):
    with pytest.raises(error) as caught:
        await reply_to(fault)
    assert caught.value.retryable


async def test_a_stalled_stream_times_out():
    with pytest.raises(APITimeoutError):
        await reply_to(Fault.stall_after(4), idle_timeout_s=0.2)


@pytest.mark.parametrize(
    ("kind", "status", "retryable"),
    [("overloaded_error", 529, True), ("api_error", 500, True), ("authentication_error", 401, False)],
)
async def test_an_error_inside_the_stream_has_the_status_of_its_type(kind: str, status: int, retryable: bool):
    with pytest.raises(APIStatusError) as caught:
        await reply_to(Fault.error_after(3, {"type": "error", "error": {"type": kind, "message": "no"}}))
    assert (caught.value.status_code, caught.value.retryable) == (status, retryable)


async def test_a_prompt_that_is_too_long_has_its_own_error():
    refusal = Fault.status_is(
        400,
        {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
    )
    with pytest.raises(ContextTooLong):
        await reply_to(refusal)
    with pytest.raises(ContextTooLong):
        await reply_to(ScriptedResponse(stop="model_context_window_exceeded"))


async def test_a_refusal_is_not_retryable():
    with pytest.raises(ChatProviderError, match="declined") as caught:
        await reply_to(ScriptedResponse(text="I", stop="refusal"))
    assert not caught.value.retryable


async def test_requests_with_tool_calls_are_valid_and_extend_the_previous_one():
    script = [
        ScriptedResponse(
            thinking="Hm.", text="I look.", tool_calls=TWO_CALLS, quirks=frozenset({Quirk.SAME_IDS})
        ),
        ScriptedResponse(
            redacted="c2VjcmV0", tool_calls=(Call("ReadFile", "{broken", id="functions.ReadFile:0"),)
        ),
        ScriptedResponse(tool_calls=(Call("ReadFile", {"path": "c"}, id="functions.ReadFile:0"),)),
        ScriptedResponse(text="Done."),
    ]
    async with AnthropicServer(script) as server:
        provider = provider_for("anthropic", server.base_url)
        history: list[Message] = [*HELLO]
        for outputs in (("one", ""), ("no such file",), ("three",)):
            message = (await ask(provider, history, tools=[READ_FILE])).message
            history += [message, *results(message, *outputs)]
        assert (await ask(provider, history, tools=[READ_FILE])).text == "Done."
        await provider.aclose()
        assert server.connections == 1
    for body in server.bodies:
        assert_valid_request(body)
    for previous, following in zip(server.bodies, server.bodies[1:], strict=False):
        assert_prefix_extension(previous, following)
    first_answer = server.bodies[1]["messages"][1]["content"]
    assert first_answer[0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"}
    assert server.bodies[2]["messages"][3]["content"][0] == {"type": "redacted_thinking", "data": "c2VjcmV0"}


async def test_thinking_without_a_signature_is_not_sent_back():
    unsigned = ScriptedResponse(
        thinking="Hm.", tool_calls=(Call("ReadFile", {"path": "a"}),), quirks=frozenset({Quirk.UNSIGNED})
    )
    async with AnthropicServer([unsigned, ScriptedResponse(text="ok")]) as server:
        provider = provider_for("anthropic", server.base_url)
        message = (await ask(provider)).message
        assert message.content == (ThinkPart("Hm."),)
        await ask(provider, [*HELLO, message, *results(message, "x")])
        await provider.aclose()
    assert [block["type"] for block in server.bodies[1]["messages"][1]["content"]] == ["tool_use"]


REFUSED_SIGNATURE = Fault.status_is(
    400,
    {
        "type": "invalid_request_error",
        "message": "messages.1.content.0: Invalid `signature` in `thinking` block",
    },
)


async def test_rejected_thinking_is_omitted_from_all_later_requests():
    call = ScriptedResponse(thinking="New.", signature="bmV3", tool_calls=(Call("ReadFile", {"path": "a"}),))
    async with AnthropicServer([REFUSED_SIGNATURE, call, ScriptedResponse(text="ok")]) as server:
        provider = provider_for("anthropic", server.base_url)
        history = [
            *HELLO,
            Message("assistant", (ThinkPart("Old.", "b2xk"), TextPart("Hi."))),
            user_message("go"),
        ]
        message = (await ask(provider, history)).message
        history += [message, *results(message, "x")]
        assert (await ask(provider, history)).text == "ok"
        await provider.aclose()
    kinds = [
        [block["type"] for message in body["messages"] for block in message["content"]]
        for body in server.bodies
    ]
    assert [types.count("thinking") for types in kinds] == [1, 0, 1]
    assert_prefix_extension(server.bodies[1], server.bodies[2])


async def test_thinking_rejected_at_different_times_stays_omitted():
    script = [
        REFUSED_SIGNATURE,
        ScriptedResponse(thinking="New.", signature="bmV3", text="a"),
        REFUSED_SIGNATURE,
        ScriptedResponse(text="b"),
    ]
    async with AnthropicServer(script) as server:
        provider = provider_for("anthropic", server.base_url)
        history = [
            *HELLO,
            Message("assistant", (ThinkPart("Old.", "b2xk"), TextPart("Hi."))),
            user_message("go"),
        ]
        history += [(await ask(provider, history)).message, user_message("go on")]
        await ask(provider, history)
        await provider.aclose()
    assert "thinking" not in json.dumps(server.bodies[-1]["messages"])


async def test_a_rejection_that_persists_without_thinking_is_raised():
    async with AnthropicServer([REFUSED_SIGNATURE, REFUSED_SIGNATURE]) as server:
        provider = provider_for("anthropic", server.base_url)
        history = [
            *HELLO,
            Message("assistant", (ThinkPart("Old.", "b2xk"), TextPart("Hi."))),
            user_message("go"),
        ]
        with pytest.raises(APIStatusError):
            await ask(provider, history)
        await provider.aclose()
        assert len(server.requests) == 2


async def test_repeated_content_gets_cache_markers():
    script = [ScriptedResponse(tool_calls=(Call("ReadFile", {"path": "a"}),)), ScriptedResponse(text="ok")]
    async with AnthropicServer(script) as server:
        provider = provider_for("anthropic", server.base_url)
        message = (await ask(provider, tools=[READ_FILE])).message
        await ask(provider, [*HELLO, message, *results(message, "x")], tools=[READ_FILE])
        await provider.aclose()
    body = server.bodies[1]
    marked = {"type": "ephemeral"}
    assert body["system"][-1]["cache_control"] == marked
    assert body["tools"][-1]["cache_control"] == marked
    assert [message["content"][-1].get("cache_control") for message in body["messages"]] == [
        marked,
        None,
        marked,
    ]


async def test_an_image_is_sent_as_data_or_as_a_url():
    parts = (TextPart("what?"), ImageURLPart(MediaURL(PIXEL)), ImageURLPart(MediaURL("https://e.org/a.png")))
    async with AnthropicServer([ScriptedResponse(text="A cat.")]) as server:
        provider = provider_for("anthropic", server.base_url)
        await ask(provider, (user_message(parts),))
        await provider.aclose()
    _, data, address = server.bodies[0]["messages"][0]["content"]
    assert data["source"] == {"type": "base64", "media_type": "image/png", "data": "aVZCT1J3MEtHZ28="}
    assert address["source"] == {"type": "url", "url": "https://e.org/a.png"}


async def test_a_compatible_server_gets_the_key_in_both_headers_and_a_keyless_one_in_none():
    async with AnthropicServer([ScriptedResponse(text="a"), ScriptedResponse(text="b")]) as server:
        for key in ("sk-loopback-secret", ""):
            provider = provider_for("anthropic", server.base_url + "/v1", api_key=key)
            await ask(provider)
            await provider.aclose()
    keyed, keyless = server.requests
    assert keyed.headers["x-api-key"] == "sk-loopback-secret"
    assert keyed.headers["authorization"] == "Bearer sk-loopback-secret"
    assert not {"x-api-key", "authorization"} & set(keyless.headers)


async def test_thinking_with_a_budget_stays_off_in_a_turn_that_began_without_it():
    script = [
        ScriptedResponse(tool_calls=(Call("ReadFile", {"path": "a"}),)),
        ScriptedResponse(text="ok"),
        ScriptedResponse(text="ok"),
    ]
    async with AnthropicServer(script) as server:
        provider = provider_for("anthropic", server.base_url, model="claude-sonnet-4-5")
        message = (await ask(provider)).message
        history = [*HELLO, message, *results(message, "x")]
        thinking = provider.with_thinking("high")
        await ask(thinking, history)
        await ask(thinking, [*history, Message("assistant", (TextPart("ok"),)), user_message("more")])
        await provider.aclose()
    assert ["thinking" in body for body in server.bodies] == [False, False, True]


@pytest.mark.parametrize("index", [1, None])
async def test_a_call_of_the_servers_own_tools_adds_nothing_to_a_call_before_it(index):
    own = {"type": "content_block_start", "content_block": {"type": "server_tool_use", "name": "web_search"}}
    query = {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": '{"q": 1}'}}
    numbered = {} if index is None else {"index": index}
    reply = await reply_to(
        stream(
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "a", "name": "ReadFile", "input": {}},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": '{"path": "a"}'},
            },
            {"type": "content_block_stop", "index": 0},
            {**own, **numbered},
            {**query, **numbered},
            {"type": "content_block_stop", **numbered},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        )
    )
    assert arguments(reply) == [("ReadFile", {"path": "a"})]
