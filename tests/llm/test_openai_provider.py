import asyncio
import json
from contextlib import aclosing

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
from kimi_tui.version import __version__
from tests.llm.conversations import HELLO, PIXEL, READ_FILE, CollectedResponse, ask, provider_for, results
from tests.llm.servers import (
    Call,
    Fault,
    OpenAIServer,
    Quirk,
    ScriptedResponse,
    assert_prefix_extension,
    assert_valid_request,
)
from tests.loop_clock import LoopClock
from tests.timeouts import TEST_TIMEOUT_S

TWO_CALLS = (Call("ReadFile", {"path": "a\u2028.py"}), Call("ReadFile", {"path": "bé.py"}))
SENT_CALLS = [(call.name, call.text) for call in TWO_CALLS]


async def reply_to(*script, **settings) -> CollectedResponse:
    async with OpenAIServer(script) as server:
        provider = provider_for("openai", server.base_url, **settings)
        try:
            return await ask(provider, tools=[READ_FILE])
        finally:
            await provider.aclose()


def chunk(choice=None, **fields) -> bytes:
    event = {"id": "c", "choices": [] if choice is None else [choice], **fields}
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def stream(*events: bytes) -> Fault:
    return Fault.raw(b"".join(events))


def delta(finish=None, **fields) -> bytes:
    return chunk({"index": 0, "delta": fields, "finish_reason": finish})


DONE = b"data: [DONE]\n\n"


async def test_a_response_streams_as_thinking_text_calls_and_usage():
    reply = await reply_to(ScriptedResponse(thinking="Let me see.", text="Here: ✨", tool_calls=TWO_CALLS))
    assert (reply.thought, reply.text, reply.calls) == ("Let me see.", "Here: ✨", SENT_CALLS)
    assert reply.usage == TokenUsage(input_other=60, output=20, input_cache_read=40)
    assert reply.message_id == "chatcmpl-1"
    assert len(reply.parts) > 8


@pytest.mark.parametrize(
    "quirks",
    [
        {Quirk.REPEATED_IDS},
        {Quirk.FRESH_IDS},
        {Quirk.NO_INDEX},
        {Quirk.INDEX_ZERO},
        {Quirk.INTERLEAVED_CALLS},
        {Quirk.SAME_IDS},
        {Quirk.EMPTY_IDS},
        {Quirk.INDEX_ZERO, Quirk.REPEATED_IDS},
        {Quirk.NULL_DELTA},
        {Quirk.PINGS, Quirk.RETRY_LINES, Quirk.CRLF},
        {Quirk.STOP_WITH_CALLS},
        {Quirk.NO_DONE},
        {Quirk.REASONING},
        {Quirk.PLAIN_JSON},
        {Quirk.USAGE_IN_CHOICE},
        {Quirk.NO_END},
    ],
    ids=lambda quirks: "+".join(sorted(quirk.name for quirk in quirks)),
)
async def test_a_response_is_the_same_for_every_server_quirk(quirks: set[Quirk]):
    reply = await reply_to(
        ScriptedResponse(thinking="Hm.", text="Two files.", tool_calls=TWO_CALLS, quirks=frozenset(quirks))
    )
    assert (reply.thought, reply.text, reply.calls) == ("Hm.", "Two files.", SENT_CALLS)
    ids = [call.id for call in reply.message.tool_calls or ()]
    assert all(ids)
    assert len(set(ids)) == 2
    assert reply.usage == TokenUsage(input_other=60, output=20, input_cache_read=40)


@pytest.mark.parametrize("quirk", [Quirk.NO_USAGE, Quirk.NULL_USAGE])
async def test_a_response_without_usage_is_complete(quirk: Quirk):
    reply = await reply_to(ScriptedResponse(text="Hello.", quirks=frozenset({quirk})))
    assert (reply.text, reply.usage) == ("Hello.", None)


async def test_a_delta_of_ten_megabytes_arrives_completely():
    text = "é" * 5_000_000
    reply = await reply_to(ScriptedResponse(text=text, piece=len(text)))
    assert reply.text == text


async def test_invalid_utf8_is_replaced():
    reply = await reply_to(
        stream(b'data: {"choices":[{"delta":{"content":"a\xffb"}}]}\n\n', delta("stop"), DONE)
    )
    assert reply.text == "a\ufffdb"


async def test_events_without_blank_lines_between_them_are_read_line_by_line():
    events = (delta(content="a"), delta(content="b"), delta("stop"))
    reply = await reply_to(stream(*(event.replace(b"\n\n", b"\n") for event in events), b"\n", DONE))
    assert reply.text == "ab"


async def test_content_of_typed_parts_becomes_text_and_thinking():
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
    ]
    reply = await reply_to(stream(delta(content=content), delta("stop"), DONE))
    assert (reply.thought, reply.text) == ("hm", "yes")


async def test_a_lone_surrogate_becomes_a_question_mark_and_a_pair_a_character():
    halves = b'data: {"choices":[{"delta":{"content":"a\\ud83d, \\ud83d\\ude00"}}]}\n\n'
    reply = await reply_to(stream(halves, delta("stop"), DONE))
    assert reply.text == "a?, 😀"


async def test_deeply_nested_json_is_an_invalid_response():
    with pytest.raises(APIConnectionError, match="invalid response"):
        await reply_to(stream(b"data: " + b"[" * 200_000 + b"\n\n"))


async def test_thinking_in_both_fields_is_not_duplicated():
    reply = await reply_to(
        stream(delta(reasoning="hm", reasoning_content="hm"), delta("stop", content="a"), DONE)
    )
    assert reply.thought == "hm"


async def test_values_of_unexpected_types_are_ignored():
    odd = [
        b"data: null\n\n",
        b"data: 7\n\n",
        b'data: {"choices": null}\n\n',
        b'data: {"choices": [null]}\n\n',
    ]
    reply = await reply_to(
        stream(
            *odd,
            chunk({"delta": "text"}),
            delta(tool_calls=None, content=None),
            delta(tool_calls=[None]),
            delta(content="fine"),
            delta("stop"),
            chunk(usage={"prompt_tokens": None, "completion_tokens": float("nan"), "cached_tokens": "3"}),
            DONE,
        )
    )
    assert (reply.text, reply.usage) == ("fine", TokenUsage())


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.reset_after(4), APIConnectionError),
        (Fault.cut_after(4), APIConnectionError),
        (Fault.end_after(4), APIConnectionError),
        (Fault.malformed_after(3), APIConnectionError),
        (Fault.malformed_after(3, data=b"not json"), APIConnectionError),
        (Fault.empty(), APIEmptyResponseError),
        (Fault.raw(b": nothing to say\n\nretry: 10\n\n"), APIEmptyResponseError),
        (Fault.raw(b"upstream connect error or disconnect/reset before headers"), APIConnectionError),
        (Fault.end_after(1), APIEmptyResponseError),
    ],
    ids=["reset", "cut", "ended", "truncated", "garbage", "empty", "comments", "plain text", "no word"],
)
async def test_an_incomplete_response_is_retryable(fault: Fault, error: type[ChatProviderError]):
    with pytest.raises(error) as caught:
        await reply_to(fault)
    assert caught.value.retryable
    assert "127.0.0.1" in caught.value.what
    assert caught.value.hint


async def test_parts_before_a_broken_connection_are_yielded():
    reply = CollectedResponse()
    answer = ScriptedResponse(text="one two three four", piece=4)
    async with OpenAIServer([Fault.reset_after(3, answer)]) as server:
        provider = provider_for("openai", server.base_url)
        with pytest.raises(APIConnectionError):
            await ask(provider, into=reply)
        await provider.aclose()
    assert reply.text == "one two "


async def test_a_stalled_stream_times_out_and_the_hint_names_the_setting():
    with pytest.raises(APITimeoutError) as caught:
        await reply_to(Fault.stall_after(3), idle_timeout_s=0.2)
    assert caught.value.retryable
    assert "idle_timeout_s" in caught.value.hint


async def test_a_slow_response_does_not_time_out():
    reply, clock = CollectedResponse(), LoopClock()
    async with OpenAIServer([ScriptedResponse(text="a" * 160, piece=8, pause_s=10)]) as server:
        provider = provider_for("openai", server.base_url, idle_timeout_s=100)
        answering = asyncio.ensure_future(ask(provider, into=reply))
        while not server.requests:
            await asyncio.sleep(0)
        for part_count in range(20):  # once a part has arrived, the server is in its next pause
            while len(reply.parts) < part_count:
                await asyncio.sleep(0)
            clock.advance(10)
        while not answering.done():  # the end of the stream isn't a part
            clock.advance(10)
            await asyncio.wait([answering], timeout=0.1)
        await answering
        await provider.aclose()
    assert reply.text == "a" * 160


async def test_incomplete_tool_calls_are_an_error():
    calls = ScriptedResponse(tool_calls=(Call("ReadFile", {"path": "a" * 100}),))
    with pytest.raises(APIConnectionError):
        await reply_to(Fault.end_after(4, calls))


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ({"error": {"message": "Provider returned error", "code": 502}}, APIStatusError, 502),
        ({"error": {"message": "Slow down", "type": "rate_limit_error"}}, APIStatusError, 429),
        ({"object": "error", "message": "maximum context length is 4096", "code": 400}, ContextTooLong, 400),
        ({"error": "something"}, APIStatusError, 500),
    ],
)
async def test_an_error_inside_the_stream_is_raised(error: object, kind: type[APIStatusError], status: int):
    with pytest.raises(kind) as caught:
        await reply_to(Fault.error_after(3, error))
    assert caught.value.status_code == status


async def test_an_error_inside_a_choice_is_raised():
    failed = chunk({"delta": {}, "finish_reason": "error", "error": {"code": 503, "message": "gone"}})
    with pytest.raises(APIStatusError) as caught:
        await reply_to(stream(delta(content="a"), failed))
    assert caught.value.status_code == 503


async def test_an_error_as_a_document_with_status_200_is_raised():
    with pytest.raises(APIStatusError) as caught:
        await reply_to(
            Fault.raw(b'{"error": {"message": "no", "code": 429}}', content_type="application/json")
        )
    assert caught.value.status_code == 429


async def test_the_error_for_a_web_page_points_to_the_base_url():
    with pytest.raises(ChatProviderError, match="web page") as caught:
        await reply_to(Fault.raw(b"<!doctype html><title>Sign in</title>", content_type="text/html"))
    assert not caught.value.retryable
    assert "base_url" in caught.value.hint


async def test_a_filtered_response_is_not_retryable():
    with pytest.raises(ChatProviderError, match="declined") as caught:
        await reply_to(ScriptedResponse(text="", stop="content_filter"))
    assert not caught.value.retryable


async def test_an_empty_response_at_the_output_limit_has_its_own_error():
    with pytest.raises(APIEmptyResponseError, match="output limit"):
        await reply_to(ScriptedResponse(text="", stop="length"))


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_the_provider_never_retries(status: int):
    async with OpenAIServer(
        [Fault.status_is(status, headers={"Retry-After": "3"}), ScriptedResponse(text="a")]
    ) as server:
        provider = provider_for("openai", server.base_url)
        with pytest.raises(APIStatusError) as caught:
            await ask(provider)
        await provider.aclose()
        assert len(server.requests) == 1
    assert (caught.value.status_code, caught.value.retry_after, caught.value.retryable) == (status, 3.0, True)


@pytest.mark.parametrize("field", ["stream_options", "prompt_cache_key", "reasoning_effort"])
async def test_a_rejected_field_is_omitted_from_later_requests(field: str):
    refusal = Fault.status_is(400, {"message": f"Unrecognized request argument supplied: {field}"})
    async with OpenAIServer([refusal, ScriptedResponse(text="a"), ScriptedResponse(text="b")]) as server:
        kind = "kimi" if field == "prompt_cache_key" else "openai"
        provider = provider_for(kind, server.base_url, session_id="s", model="gpt-5").with_thinking("high")
        assert (await ask(provider)).text == "a"
        assert (await ask(provider)).text == "b"
        await provider.aclose()
        assert [field in body for body in server.bodies] == [True, False, False]


async def test_requests_with_tool_calls_are_valid_and_extend_the_previous_one():
    script = [
        ScriptedResponse(
            thinking="Hm.", text="I look.", tool_calls=TWO_CALLS, quirks=frozenset({Quirk.SAME_IDS})
        ),
        ScriptedResponse(tool_calls=(Call("ReadFile", "{broken"),)),
        ScriptedResponse(text="Done."),
    ]
    async with OpenAIServer(script) as server:
        provider = provider_for("openai", server.base_url)
        history: list[Message] = [*HELLO]
        for outputs in (("one", ""), ("no such file",)):
            message = (await ask(provider, history, tools=[READ_FILE])).message
            history += [message, *results(message, *outputs)]
        assert (await ask(provider, history, tools=[READ_FILE])).text == "Done."
        await provider.aclose()
        assert server.connections == 1
    for body in server.bodies:
        assert_valid_request(body)
    for previous, following in zip(server.bodies, server.bodies[1:], strict=False):
        assert_prefix_extension(previous, following)


async def test_an_image_is_sent():
    async with OpenAIServer([ScriptedResponse(text="A cat.")]) as server:
        provider = provider_for("openai", server.base_url)
        await ask(provider, (user_message((TextPart("what?"), ImageURLPart(MediaURL(PIXEL)))),))
        await provider.aclose()
    assert server.bodies[0]["messages"][-1]["content"] == [
        {"type": "text", "text": "what?"},
        {"type": "image_url", "image_url": {"url": PIXEL}},
    ]


async def test_a_request_names_the_program_the_key_and_the_account(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    async with OpenAIServer([ScriptedResponse(text="a"), ScriptedResponse(text="a")]) as server:
        plain = provider_for("openai", server.base_url, api_key="sk-1")
        await ask(plain)
        custom = provider_for(
            "openai", server.base_url, headers={"user-agent": "mine", "openai-project": "p"}
        )
        await ask(custom)
        for provider in (plain, custom):
            await provider.aclose()
    first, second = server.requests
    assert first.headers["user-agent"] == f"kimi-tui/{__version__}"
    assert first.headers["authorization"] == "Bearer sk-1"
    assert first.headers["content-type"] == "application/json"
    assert (first.headers["openai-organization"], first.headers["openai-project"]) == ("org-1", "proj-1")
    assert (second.headers["user-agent"], second.headers["openai-project"]) == ("mine", "p")


async def test_without_a_key_only_custom_headers_are_sent():
    async with OpenAIServer([ScriptedResponse(text="a"), ScriptedResponse(text="b")]) as server:
        keyless = provider_for("openai", server.base_url, api_key="", headers={"X-Team": "tui"})
        await ask(keyless)
        custom = provider_for("openai", server.base_url, api_key="", headers={"Authorization": "Basic abc"})
        await ask(custom)
        await keyless.aclose()
        await custom.aclose()
    first, second = server.requests
    assert "authorization" not in first.headers
    assert first.headers["x-team"] == "tui"
    assert second.headers["authorization"] == "Basic abc"


async def test_an_abandoned_response_closes_its_connection():
    async with OpenAIServer([ScriptedResponse(text="a" * 1000, pause_s=0.01)]) as server:
        provider = provider_for("openai", server.base_url)
        async with aclosing(provider.generate("", (), HELLO)) as parts:
            async for _ in parts:
                break
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while server.open_connections:
                await asyncio.sleep(0)
        await provider.aclose()


async def test_a_cancelled_response_raises_only_cancelled_error():
    async with OpenAIServer([Fault.stall_after(2)]) as server:
        provider = provider_for("openai", server.base_url)
        reply = CollectedResponse()
        task = asyncio.ensure_future(ask(provider, into=reply))
        while not reply.parts:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.aclose()


async def test_a_provider_that_was_closed_can_be_used_again():
    async with OpenAIServer([ScriptedResponse(text="a"), ScriptedResponse(text="b")]) as server:
        provider = provider_for("openai", server.base_url)
        await ask(provider)
        await provider.aclose()
        assert (await ask(provider)).text == "b"
        await provider.aclose()


async def test_a_lone_surrogate_in_the_history_can_be_sent():
    async with OpenAIServer([ScriptedResponse(text="a")]) as server:
        provider = provider_for("openai", server.base_url)
        await ask(provider, (user_message("caf\udce9"),))
        await provider.aclose()
    assert server.bodies[0]["messages"][-1]["content"] == "caf?"


async def test_thinking_alone_is_a_response():
    reply = await reply_to(ScriptedResponse(thinking="Hm."))
    assert reply.message == Message("assistant", (ThinkPart("Hm."),))
