"""Requests of a conversation that goes on hold what they would hold if each were made anew, for less."""

import json
import random
import time
from collections.abc import Callable, Sequence

import pytest

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.llm.chat_dialect import DEEPSEEK
from kimi_tui.llm.provider import ThinkingEffort
from kimi_tui.llm.sent_chats import SentChats
from tests.llm.conversations import PIXEL


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
    return json.loads(chats.messages(system_prompt, history, dialect=DEEPSEEK, effort=effort))


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
    going_on = cpu_seconds(lambda: chats.messages("be brief", following, dialect=DEEPSEEK, effort="high"))
    whole = cpu_seconds(lambda: SentChats().messages("be brief", following, dialect=DEEPSEEK, effort="high"))
    assert going_on < whole / 5


def cpu_seconds(work: Callable[[], object]) -> float:
    """The least CPU time of a few tries."""
    times = []
    for _ in range(5):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)
