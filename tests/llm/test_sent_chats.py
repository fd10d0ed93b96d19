"""Requests of a conversation that goes on hold what they would hold if each were made anew, for less."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, TypeVar

import pytest

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.chat_dialect import DEEPSEEK
from kimi_tui.llm.chat_request import ChatMessages, ChatWay
from kimi_tui.llm.messages_request import TurnMessages
from kimi_tui.llm.sent_chats import Growing, Sent, SentChats
from tests.llm.conversations import PIXEL

T = TypeVar("T")
UNSENDABLE = Message("assistant", (), (ToolCall("x", FunctionCall("Read", "{}"), extras={"no": b"json"}),))


def turns(count: int, *, seed: int = 1) -> list[Message]:
    """Turns of one call each, some of which bring a picture."""
    chance = random.Random(seed)
    history: list[Message] = []
    for number in range(count):
        call = ToolCall(f"c{number % 3}", FunctionCall("ReadFile", '{"path": "a"}'))
        picture = (ImageURLPart(MediaURL(PIXEL)),) if chance.random() < 0.3 else ()
        history += [
            user_message(f"turn {number} of {seed}"),
            Message("assistant", (ThinkPart("hm", f"s{number % 3}"), TextPart("I look.")), (call,)),
            Message("tool", (TextPart("text " * 30), *picture), tool_call_id=call.id),
            Message("assistant", (TextPart("It is so. " * 10),)),
        ]
    return history


class Way(NamedTuple):
    """A dialect, and what a conversation may differ by in it."""

    begin: Callable[[Any], Growing]
    usual: Any
    others: tuple[Any, ...]


CHAT = Way(
    ChatMessages,
    ChatWay("be brief", DEEPSEEK, "high"),
    (ChatWay("be long", DEEPSEEK, "high"), ChatWay("", DEEPSEEK, "off")),
)
TURNS = Way(TurnMessages, frozenset(), (frozenset({"s1"}), frozenset({"s1", "s2"})))
both_ways = pytest.mark.parametrize("way", [CHAT, TURNS], ids=["chat completions", "messages"])


def chats_of(way: Way) -> SentChats[Any]:
    return SentChats(way.begin)


def request(chats: SentChats[Any], history: Sequence[Message], how: Any) -> list[dict]:
    return json.loads(done(chats.messages(how, history)).json)


def done(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives, which waits for nothing but its turn."""
    try:
        while True:
            work.send(None)
    except StopIteration as end:
        return end.value


def anew(way: Way, history: Sequence[Message], how: Any = None) -> list[dict]:
    return request(chats_of(way), history, how or way.usual)


@both_ways
def test_each_request_of_a_growing_conversation_is_as_if_made_anew(way: Way):
    chats, history = chats_of(way), turns(12)
    for length in range(len(history) + 1):
        assert request(chats, history[:length], way.usual) == anew(way, history[:length])


@both_ways
@pytest.mark.parametrize("seed", range(3))
def test_conversations_that_go_back_or_elsewhere_are_as_if_made_anew(seed: int, way: Way):
    chance, chats = random.Random(seed), chats_of(way)
    lines = [turns(8, seed=number) for number in range(4)]
    for _ in range(60):
        line = chance.choice(lines)
        history = line[: chance.randrange(len(line))] + turns(chance.randrange(2), seed=chance.randrange(3))
        how = chance.choice([way.usual, *way.others])
        assert request(chats, history, how) == anew(way, history, how)


def test_what_conversations_may_differ_by_makes_a_difference():
    for way in (CHAT, TURNS):
        assert len({str(anew(way, turns(3), how)) for how in (way.usual, *way.others)}) == 3


@both_ways
def test_a_message_that_was_put_in_the_place_of_another_is_sent(way: Way):
    chats, history = chats_of(way), turns(2)
    request(chats, history, way.usual)
    assert "another" in str(request(chats, [user_message("another"), *history[1:]], way.usual))


def test_what_can_not_be_sent_leaves_nothing_behind():
    chats, history = chats_of(CHAT), turns(2)
    request(chats, history, CHAT.usual)
    with pytest.raises(TypeError, match="not JSON serializable"):
        request(chats, [*history, user_message("go on"), UNSENDABLE], CHAT.usual)
    following = [*history, user_message("go on")]
    assert request(chats, following, CHAT.usual) == anew(CHAT, following)


@both_ways
def test_a_request_that_goes_on_costs_what_is_new_in_it(way: Way):
    chats, history = chats_of(way), turns(800)
    request(chats, history, way.usual)
    following = [*history, user_message("and now?")]
    going_on = cpu_seconds(lambda: done(chats.messages(way.usual, following)))
    assert going_on < cpu_seconds(lambda: done(chats_of(way).messages(way.usual, following))) / 5


@both_ways
def test_a_request_that_was_prepared_costs_what_is_new_in_it(way: Way):
    chats, history = chats_of(way), turns(800)
    following = [*history, user_message("and now?")]
    done(chats.prepare(way.usual, history))
    began = time.thread_time()
    prepared = done(chats.messages(way.usual, following))
    going_on = time.thread_time() - began
    assert going_on < cpu_seconds(lambda: done(chats_of(way).messages(way.usual, following))) / 5
    assert json.loads(prepared.json) == anew(way, following)


async def test_keys_are_answered_while_a_long_conversation_is_made_ready():
    turned = 0

    async def count_turns() -> None:
        nonlocal turned
        while True:
            turned += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    await chats_of(CHAT).messages(CHAT.usual, turns(800))
    counting.cancel()
    assert turned > 5


@both_ways
async def test_requests_beside_each_other_hold_what_they_would_alone(way: Way):
    history = turns(300)
    asked = [history[:length] for length in (1200, 3, 700, 1200, 1100, 401)]
    chats = chats_of(way)
    sending = [chats.messages(way.usual, it) for it in asked]
    _, *sent = await asyncio.gather(chats.prepare(way.usual, asked[2]), *sending)
    assert [json.loads(it.json) for it in sent] == [anew(way, it) for it in asked]


async def test_a_request_that_fails_costs_none_beside_it():
    chats, history = chats_of(CHAT), turns(300)
    bad = [*history, Message("tool", (ImageURLPart(MediaURL(PIXEL)),)), UNSENDABLE]
    good = [*history, user_message("go on")]
    asked = [chats.messages(CHAT.usual, it) for it in (bad, good, bad, good)]
    sent = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(it) for it in sent] == [TypeError, Sent, TypeError, Sent]
    assert [json.loads(it.json) for it in sent if isinstance(it, Sent)] == [anew(CHAT, good)] * 2


def cpu_seconds(work: Callable[[], object]) -> float:
    """The least CPU time of a few tries."""
    times = []
    for _ in range(5):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)
