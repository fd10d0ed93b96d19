import asyncio
import json
from contextlib import aclosing

import pytest

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProviderError,
    ContextTooLong,
)
from kimi_tui.base.message import Message, user_message
from kimi_tui.base.usage import TokenUsage
from tests.clock import Clock
from tests.llm.conversations import HELLO, PIXEL, READ_FILE, Reply, ask, provider_for, results
from tests.llm.servers import (
    Answer,
    Call,
    Fault,
    OpenAIServer,
    Quirk,
    assert_prefix_extension,
    assert_valid_request,
)
from tests.patience import PATIENCE_S

TWO_CALLS = (Call("ReadFile", {"path": "a\u2028.py"}), Call("ReadFile", {"path": "bé.py"}))
SENT_CALLS = [(call.name, call.text) for call in TWO_CALLS]


async def reply_to(*script, **settings) -> Reply:
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


async def test_an_answer_streams_as_thoughts_text_calls_and_usage():
    reply = await reply_to(Answer(thinking="Let me see.", text="Here: ✨", tool_calls=TWO_CALLS))
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
        {Quirk.STOP_BESIDE_CALLS},
        {Quirk.NO_DONE},
        {Quirk.REASONING},
        {Quirk.PLAIN_JSON},
        {Quirk.USAGE_IN_CHOICE},
        {Quirk.NO_END},
    ],
    ids=lambda quirks: "+".join(sorted(quirk.name for quirk in quirks)),
)
async def test_an_answer_is_the_same_however_its_server_writes_it(quirks: set[Quirk]):
    reply = await reply_to(
        Answer(thinking="Hm.", text="Two files.", tool_calls=TWO_CALLS, quirks=frozenset(quirks))
    )
    assert (reply.thought, reply.text, reply.calls) == ("Hm.", "Two files.", SENT_CALLS)
    ids = [call.id for call in reply.message.tool_calls or ()]
    assert all(ids)
    assert len(set(ids)) == 2
    assert reply.usage == TokenUsage(input_other=60, output=20, input_cache_read=40)


@pytest.mark.parametrize("quirk", [Quirk.NO_USAGE, Quirk.NULL_USAGE])
async def test_an_answer_without_usage_is_an_answer(quirk: Quirk):
    reply = await reply_to(Answer(text="Hello.", quirks=frozenset({quirk})))
    assert (reply.text, reply.usage) == ("Hello.", None)


async def test_a_delta_of_ten_megabytes_arrives_whole():
    text = "é" * 5_000_000
    reply = await reply_to(Answer(text=text, piece=len(text)))
    assert reply.text == text


async def test_bytes_that_are_no_utf8_cost_only_themselves():
    reply = await reply_to(
        stream(b'data: {"choices":[{"delta":{"content":"a\xffb"}}]}\n\n', delta("stop"), DONE)
    )
    assert reply.text == "a\ufffdb"


async def test_events_without_blank_lines_between_them_are_read_line_by_line():
    events = (delta(content="a"), delta(content="b"), delta("stop"))
    reply = await reply_to(stream(*(event.replace(b"\n\n", b"\n") for event in events), b"\n", DONE))
    assert reply.text == "ab"


async def test_content_that_comes_as_typed_parts_is_text_and_thought():
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
    ]
    reply = await reply_to(stream(delta(content=content), delta("stop"), DONE))
    assert (reply.thought, reply.text) == ("hm", "yes")


async def test_half_a_surrogate_pair_becomes_a_question_mark_and_a_whole_one_a_character():
    halves = b'data: {"choices":[{"delta":{"content":"a\\ud83d, \\ud83d\\ude00"}}]}\n\n'
    reply = await reply_to(stream(halves, delta("stop"), DONE))
    assert reply.text == "a?, 😀"


async def test_json_that_is_nested_without_end_is_an_answer_that_can_t_be_read():
    with pytest.raises(APIConnectionError, match="can't be read"):
        await reply_to(stream(b"data: " + b"[" * 200_000 + b"\n\n"))


async def test_thinking_sent_in_both_fields_is_thought_once():
    reply = await reply_to(
        stream(delta(reasoning="hm", reasoning_content="hm"), delta("stop", content="a"), DONE)
    )
    assert reply.thought == "hm"


async def test_values_of_unexpected_types_are_passed_over():
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
async def test_an_answer_that_is_not_whole_may_be_asked_for_again(
    fault: Fault, error: type[ChatProviderError]
):
    with pytest.raises(error) as caught:
        await reply_to(fault)
    assert caught.value.retryable
    assert "127.0.0.1" in caught.value.what
    assert caught.value.hint


async def test_what_streamed_before_the_connection_broke_was_given_out():
    reply = Reply()
    answer = Answer(text="one two three four", piece=4)
    async with OpenAIServer([Fault.reset_after(3, answer)]) as server:
        provider = provider_for("openai", server.base_url)
        with pytest.raises(APIConnectionError):
            await ask(provider, into=reply)
        await provider.aclose()
    assert reply.text == "one two "


async def test_silence_is_a_time_out_and_names_the_setting():
    with pytest.raises(APITimeoutError) as caught:
        await reply_to(Fault.stall_after(3), idle_timeout_s=0.2)
    assert caught.value.retryable
    assert "idle_timeout_s" in caught.value.hint


async def test_a_slow_answer_is_no_silence():
    reply, clock = Reply(), Clock()
    async with OpenAIServer([Answer(text="a" * 160, piece=8, pause_s=10)]) as server:
        provider = provider_for("openai", server.base_url, idle_timeout_s=100)
        answering = asyncio.ensure_future(ask(provider, into=reply))
        while not server.requests:
            await asyncio.sleep(0)
        for heard in range(20):  # the server is in its next pause once one of its pieces was read
            while len(reply.parts) < heard:
                await asyncio.sleep(0)
            clock.forward(10)
        while not answering.done():  # what ends the stream is no part of the answer
            clock.forward(10)
            await asyncio.wait([answering], timeout=0.1)
        await answering
        await provider.aclose()
    assert reply.text == "a" * 160


async def test_tool_calls_that_are_cut_off_are_never_run():
    calls = Answer(tool_calls=(Call("ReadFile", {"path": "a" * 100}),))
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


async def test_a_web_page_points_at_the_base_url():
    with pytest.raises(ChatProviderError, match="web page") as caught:
        await reply_to(Fault.raw(b"<!doctype html><title>Sign in</title>", content_type="text/html"))
    assert not caught.value.retryable
    assert "base_url" in caught.value.hint


async def test_a_filtered_answer_is_not_asked_for_again():
    with pytest.raises(ChatProviderError, match="declined") as caught:
        await reply_to(Answer(text="", stop="content_filter"))
    assert not caught.value.retryable


async def test_an_answer_that_ends_at_its_limit_without_a_word_says_so():
    with pytest.raises(APIEmptyResponseError, match="output limit"):
        await reply_to(Answer(text="", stop="length"))


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_the_provider_never_retries_by_itself(status: int):
    async with OpenAIServer(
        [Fault.status_is(status, headers={"Retry-After": "3"}), Answer(text="a")]
    ) as server:
        provider = provider_for("openai", server.base_url)
        with pytest.raises(APIStatusError) as caught:
            await ask(provider)
        await provider.aclose()
        assert len(server.requests) == 1
    assert (caught.value.status_code, caught.value.retry_after, caught.value.retryable) == (status, 3.0, True)


@pytest.mark.parametrize("field", ["stream_options", "prompt_cache_key", "reasoning_effort"])
async def test_a_field_that_a_server_refuses_is_left_out_from_then_on(field: str):
    refusal = Fault.status_is(400, {"message": f"Unrecognized request argument supplied: {field}"})
    async with OpenAIServer([refusal, Answer(text="a"), Answer(text="b")]) as server:
        kind = "kimi" if field == "prompt_cache_key" else "openai"
        provider = provider_for(kind, server.base_url, session_id="s", model="gpt-5").with_thinking("high")
        assert (await ask(provider)).text == "a"
        assert (await ask(provider)).text == "b"
        await provider.aclose()
        assert [field in body for body in server.bodies] == [True, False, False]


async def test_a_conversation_of_tool_calls_is_valid_and_grows_only_at_its_end():
    script = [
        Answer(thinking="Hm.", text="I look.", tool_calls=TWO_CALLS, quirks=frozenset({Quirk.SAME_IDS})),
        Answer(tool_calls=(Call("ReadFile", "{broken"),)),
        Answer(text="Done."),
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


async def test_an_image_goes_to_the_model():
    async with OpenAIServer([Answer(text="A cat.")]) as server:
        provider = provider_for("openai", server.base_url)
        await ask(provider, (user_message((TextPart("what?"), ImageURLPart(MediaURL(PIXEL)))),))
        await provider.aclose()
    assert server.bodies[0]["messages"][-1]["content"] == [
        {"type": "text", "text": "what?"},
        {"type": "image_url", "image_url": {"url": PIXEL}},
    ]


async def test_without_a_key_no_authorization_is_sent_and_own_headers_are():
    async with OpenAIServer([Answer(text="a"), Answer(text="b")]) as server:
        keyless = provider_for("openai", server.base_url, api_key="", headers={"X-Team": "tui"})
        await ask(keyless)
        own = provider_for("openai", server.base_url, api_key="", headers={"Authorization": "Basic abc"})
        await ask(own)
        await keyless.aclose()
        await own.aclose()
    first, second = server.requests
    assert "authorization" not in first.headers
    assert first.headers["x-team"] == "tui"
    assert second.headers["authorization"] == "Basic abc"


async def test_an_abandoned_answer_closes_its_connection():
    async with OpenAIServer([Answer(text="a" * 1000, pause_s=0.01)]) as server:
        provider = provider_for("openai", server.base_url)
        async with aclosing(provider.generate("", (), HELLO)) as parts:
            async for _ in parts:
                break
        async with asyncio.timeout(PATIENCE_S):
            while server.open_connections:
                await asyncio.sleep(0)
        await provider.aclose()


async def test_a_cancelled_answer_raises_nothing_but_its_cancellation():
    async with OpenAIServer([Fault.stall_after(2)]) as server:
        provider = provider_for("openai", server.base_url)
        reply = Reply()
        task = asyncio.ensure_future(ask(provider, into=reply))
        while not reply.parts:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.aclose()


async def test_a_provider_that_was_closed_can_be_used_again():
    async with OpenAIServer([Answer(text="a"), Answer(text="b")]) as server:
        provider = provider_for("openai", server.base_url)
        await ask(provider)
        await provider.aclose()
        assert (await ask(provider)).text == "b"
        await provider.aclose()


async def test_half_a_surrogate_pair_in_the_history_can_be_sent():
    async with OpenAIServer([Answer(text="a")]) as server:
        provider = provider_for("openai", server.base_url)
        await ask(provider, (user_message("caf\udce9"),))
        await provider.aclose()
    assert server.bodies[0]["messages"][-1]["content"] == "caf?"


async def test_a_thought_alone_is_an_answer():
    reply = await reply_to(Answer(thinking="Hm."))
    assert reply.message == Message("assistant", (ThinkPart("Hm."),))
