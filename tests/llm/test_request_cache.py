"""Cached requests are identical to requests that are encoded from scratch, and cost less."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, TypeVar

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.anthropic.request import TurnStyle
from kimi_tui.llm.openai.dialect import DEEPSEEK
from kimi_tui.llm.openai.request import RequestStyle
from kimi_tui.llm.transport.request_cache import CachedRequest, EncodingStyle, RequestCache
from tests.llm.conversations import PIXEL

T = TypeVar("T")
UNSENDABLE = Message("assistant", (), (ToolCall("x", FunctionCall("Read", "{}"), extras={"no": b"json"}),))


def turns(count: int, *, seed: int = 1) -> list[Message]:
    """Return turns of one call each, some with an image in the result."""
    rng = random.Random(seed)
    history: list[Message] = []
    for number in range(count):
        call = ToolCall(f"c{number % 3}", FunctionCall("ReadFile", '{"path": "a"}'))
        images = (ImageURLPart(MediaURL(PIXEL)),) if rng.random() < 0.3 else ()
        history += [
            user_message(f"turn {number} of {seed}"),
            Message("assistant", (ThinkPart("hm", f"s{number % 3}"), TextPart("I look.")), (call,)),
            Message("tool", (TextPart("text " * 30), *images), tool_call_id=call.id),
            Message("assistant", (TextPart("It is so. " * 10),)),
        ]
    return history


class EncoderCase(NamedTuple):
    """The styles that a conversation may have with one encoder."""

    style: EncodingStyle
    other_styles: tuple[EncodingStyle, ...]


CHAT_CASE = EncoderCase(
    RequestStyle("be brief", DEEPSEEK, "high"),
    (RequestStyle("be long", DEEPSEEK, "high"), RequestStyle("", DEEPSEEK, "off")),
)
MESSAGES_CASE = EncoderCase(TurnStyle(), (TurnStyle(frozenset({"s1"})), TurnStyle(frozenset({"s1", "s2"}))))
both_encoders = pytest.mark.parametrize(
    "case", [CHAT_CASE, MESSAGES_CASE], ids=["chat completions", "messages"]
)


def request(cache: RequestCache[Any], history: Sequence[Message], style: Any) -> list[dict]:
    return json.loads(run_sync(cache.build_request(style, history)).json)


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run `work`, which never waits for anything external, and return its result."""
    try:
        while True:
            work.send(None)
    except StopIteration as end:
        return end.value


def encode_from_scratch(case: EncoderCase, history: Sequence[Message], style: Any = None) -> list[dict]:
    return request(RequestCache[Any](), history, style or case.style)


@both_encoders
def test_each_request_of_a_growing_conversation_is_the_same_as_without_the_cache(case: EncoderCase):
    cache, history = RequestCache[Any](), turns(12)
    for length in range(len(history) + 1):
        assert request(cache, history[:length], case.style) == encode_from_scratch(case, history[:length])


@both_encoders
@pytest.mark.parametrize("seed", range(3))
def test_requests_after_reverts_and_switches_are_the_same_as_without_the_cache(seed: int, case: EncoderCase):
    rng, cache = random.Random(seed), RequestCache[Any]()
    conversations = [turns(8, seed=number) for number in range(4)]
    for _ in range(60):
        messages = rng.choice(conversations)
        history = messages[: rng.randrange(len(messages))] + turns(rng.randrange(2), seed=rng.randrange(3))
        style = rng.choice([case.style, *case.other_styles])
        assert request(cache, history, style) == encode_from_scratch(case, history, style)


def test_each_style_encodes_differently():
    for case in (CHAT_CASE, MESSAGES_CASE):
        styles = (case.style, *case.other_styles)
        assert len({str(encode_from_scratch(case, turns(3), style)) for style in styles}) == 3


@both_encoders
def test_a_replaced_message_is_sent(case: EncoderCase):
    cache, history = RequestCache[Any](), turns(2)
    request(cache, history, case.style)
    assert "another" in str(request(cache, [user_message("another"), *history[1:]], case.style))


def test_a_failed_request_leaves_nothing_in_the_cache():
    cache, history = RequestCache[Any](), turns(2)
    request(cache, history, CHAT_CASE.style)
    with pytest.raises(TypeError, match="not JSON serializable"):
        request(cache, [*history, user_message("go on"), UNSENDABLE], CHAT_CASE.style)
    following = [*history, user_message("go on")]
    assert request(cache, following, CHAT_CASE.style) == encode_from_scratch(CHAT_CASE, following)


@both_encoders
def test_extending_a_request_costs_only_the_new_messages(case: EncoderCase):
    cache, history = RequestCache[Any](), turns(800)
    request(cache, history, case.style)
    following = [*history, user_message("and now?")]
    incremental_cost = cpu_seconds(lambda: run_sync(cache.build_request(case.style, following)))
    assert (
        incremental_cost
        < cpu_seconds(lambda: run_sync(RequestCache[Any]().build_request(case.style, following))) / 5
    )


@both_encoders
def test_extending_a_prepared_request_costs_only_the_new_messages(case: EncoderCase):
    cache, history = RequestCache[Any](), turns(800)
    following = [*history, user_message("and now?")]
    run_sync(cache.prepare(case.style, history))
    began = time.thread_time()
    prepared = run_sync(cache.build_request(case.style, following))
    incremental_cost = time.thread_time() - began
    assert (
        incremental_cost
        < cpu_seconds(lambda: run_sync(RequestCache[Any]().build_request(case.style, following))) / 5
    )
    assert json.loads(prepared.json) == encode_from_scratch(case, following)


async def test_the_event_loop_runs_while_a_long_conversation_is_encoded():
    iterations = 0

    async def count_iterations() -> None:
        nonlocal iterations
        while True:
            iterations += 1
            await asyncio.sleep(0)

    counter = asyncio.create_task(count_iterations())
    await RequestCache[Any]().build_request(CHAT_CASE.style, turns(800))
    counter.cancel()
    assert iterations > 5


@both_encoders
async def test_concurrent_requests_are_the_same_as_sequential_ones(case: EncoderCase):
    history = turns(300)
    histories = [history[:length] for length in (1200, 3, 700, 1200, 1100, 401)]
    cache = RequestCache[Any]()
    builds = [cache.build_request(case.style, it) for it in histories]
    _, *requests = await asyncio.gather(cache.prepare(case.style, histories[2]), *builds)
    assert [json.loads(it.json) for it in requests] == [encode_from_scratch(case, it) for it in histories]


async def test_a_failing_request_does_not_affect_concurrent_ones():
    cache, history = RequestCache[Any](), turns(300)
    bad = [*history, Message("tool", (ImageURLPart(MediaURL(PIXEL)),)), UNSENDABLE]
    good = [*history, user_message("go on")]
    builds = [cache.build_request(CHAT_CASE.style, it) for it in (bad, good, bad, good)]
    outcomes = await asyncio.gather(*builds, return_exceptions=True)
    assert [type(it) for it in outcomes] == [TypeError, CachedRequest, TypeError, CachedRequest]
    assert [json.loads(it.json) for it in outcomes if isinstance(it, CachedRequest)] == [
        encode_from_scratch(CHAT_CASE, good)
    ] * 2


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the lowest CPU time of several runs."""
    times = []
    for _ in range(5):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)
