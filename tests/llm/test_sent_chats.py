"""Requests of a conversation that goes on hold what they would hold if each were made anew, for less."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import pytest

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.chat_dialect import DEEPSEEK
from kimi_tui.llm.provider import ThinkingEffort
from kimi_tui.llm.sent_chats import SentChats
from tests.llm.conversations import PIXEL

T = TypeVar("T")


def turns(count: int, *, seed: int = 1) -> list[Message]:
    """Turns of one call each, some of which bring a picture."""
    chance = random.Random(seed)
    history: list[Message] = []
    for number in range(count):
        call = ToolCall(f"c{number % 3}", FunctionCall("ReadFile", '{"path": "a"}'))
        picture = (ImageURLPart(MediaURL(PIXEL)),) if chance.random() < 0.3 else ()
        history += [
            user_message(f"turn {number} of {seed}"),
            Message("assistant", (ThinkPart("hm"), TextPart("I look.")), (call,)),
            Message("tool", (TextPart("text " * 30), *picture), tool_call_id=call.id),
            Message("assistant", (TextPart("It is so. " * 10),)),
        ]
    return history


def request(
    chats: SentChats,
    history: Sequence[Message],
    *,
    system_prompt: str = "be brief",
    effort: ThinkingEffort = "high",
) -> list[dict]:
    return json.loads(done(chats.messages(system_prompt, history, dialect=DEEPSEEK, effort=effort)))


def done(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives, which waits for nothing but its turn."""
    try:
        while True:
            work.send(None)
    except StopIteration as end:
        return end.value


def anew(history: Sequence[Message], **how) -> list[dict]:
    return request(SentChats(), history, **how)


def test_each_request_of_a_growing_conversation_is_as_if_made_anew():
    chats, history = SentChats(), turns(12)
    for length in range(len(history) + 1):
        assert request(chats, history[:length]) == anew(history[:length])


@pytest.mark.parametrize("seed", range(3))
def test_conversations_that_go_back_or_elsewhere_are_as_if_made_anew(seed: int):
    chance, chats = random.Random(seed), SentChats()
    lines = [turns(8, seed=number) for number in range(4)]
    for _ in range(60):
        line = chance.choice(lines)
        history = line[: chance.randrange(len(line))] + turns(chance.randrange(2), seed=chance.randrange(3))
        prompt, effort = chance.choice(["be brief", "be long", ""]), chance.choice(["off", "high"])
        got = request(chats, history, system_prompt=prompt, effort=effort)
        assert got == anew(history, system_prompt=prompt, effort=effort)


def test_a_message_that_was_put_in_the_place_of_another_is_sent():
    chats, history = SentChats(), turns(2)
    request(chats, history)
    assert request(chats, [user_message("another"), *history[1:]])[1]["content"] == "another"


def test_what_can_not_be_sent_leaves_nothing_behind():
    chats, history = SentChats(), turns(2)
    request(chats, history)
    call = ToolCall("x", FunctionCall("ReadFile", "{}"), extras={"no": b"json"})
    with pytest.raises(TypeError, match="not JSON serializable"):
        request(chats, [*history, user_message("go on"), Message("assistant", (), (call,))])
    following = [*history, user_message("go on")]
    assert request(chats, following) == anew(following)


def test_a_request_that_goes_on_costs_what_is_new_in_it():
    chats, history = SentChats(), turns(800)
    request(chats, history)
    following = [*history, user_message("and now?")]
    going_on = cpu_seconds(lambda: done(messages(chats, following)))
    assert going_on < cpu_seconds(lambda: done(messages(SentChats(), following))) / 5


def test_a_request_that_was_prepared_costs_what_is_new_in_it():
    chats, history = SentChats(), turns(800)
    following = [*history, user_message("and now?")]
    done(prepare(chats, history))
    began = time.thread_time()
    prepared = done(messages(chats, following))
    going_on = time.thread_time() - began
    assert going_on < cpu_seconds(lambda: done(messages(SentChats(), following))) / 5
    assert json.loads(prepared) == anew(following)


async def test_keys_are_answered_while_a_long_conversation_is_made_ready():
    turned = 0

    async def count_turns() -> None:
        nonlocal turned
        while True:
            turned += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    await messages(SentChats(), turns(800))
    counting.cancel()
    assert turned > 5


async def test_requests_beside_each_other_hold_what_they_would_alone():
    history = turns(300)
    asked = [history[:length] for length in (1200, 3, 700, 1200, 1100, 401)]
    chats = SentChats()
    _, *sent = await asyncio.gather(prepare(chats, asked[2]), *(messages(chats, it) for it in asked))
    assert [json.loads(it) for it in sent] == [anew(it) for it in asked]


async def test_a_request_that_fails_costs_none_beside_it():
    chats, history = SentChats(), turns(300)
    call = ToolCall("x", FunctionCall("ReadFile", "{}"), extras={"no": b"json"})
    bad = [*history, Message("tool", (ImageURLPart(MediaURL(PIXEL)),)), Message("assistant", (), (call,))]
    good = [*history, user_message("go on")]
    asked = [messages(chats, it) for it in (bad, good, bad, good)]
    sent = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(it) for it in sent] == [TypeError, bytes, TypeError, bytes]
    assert [json.loads(it) for it in sent if isinstance(it, bytes)] == [anew(good)] * 2


async def messages(chats: SentChats, history: Sequence[Message]) -> bytes:
    return await chats.messages("be brief", history, dialect=DEEPSEEK, effort="high")


async def prepare(chats: SentChats, history: Sequence[Message]) -> None:
    await chats.prepare("be brief", history, dialect=DEEPSEEK, effort="high")


def cpu_seconds(work: Callable[[], object]) -> float:
    """The least CPU time of a few tries."""
    times = []
    for _ in range(5):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)
