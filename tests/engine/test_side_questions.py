"""Side questions: answered beside the work, and kept nowhere in the conversation."""

import asyncio

from kimi_tui.config.settings import ModelPrice
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash
from kimi_tui.wire.events import BtwBegin, BtwEnd, CostUpdate, StepBegin, ToolResult, TurnEnd
from tests.engine.front import Front, Home, bash, call, script


async def asked(front: Front, question: str) -> BtwEnd:
    front.give(RunSlash(f"btw {question}"))
    begin = await front.until(BtwBegin)
    assert begin.question == question
    end = await front.until(BtwEnd)
    assert end.id == begin.id
    return end


async def test_a_question_is_answered_and_leaves_no_trace_in_the_conversation(home: Home) -> None:
    home.script("text: hello", script("text: it is forty-two", "usage: input_other=10 output=5"), "text: bye")
    home.price = ModelPrice(input=1_000_000, output=1_000_000)
    async with home.opened() as front:
        await front.turn("hello")
        assert (await asked(front, "what is it?")).response == "it is forty-two"
        assert front.of(CostUpdate)[-1].cost_usd == 15
        assert len(front.of(StepBegin)) == 1
        await front.turn("bye")
    assert "bye" in home.journal
    assert "forty-two" not in home.journal
    assert "what is it?" not in home.journal


async def test_it_is_answered_while_a_turn_runs(home: Home) -> None:
    home.script(bash("c1", "sleep 100"), "text: in the middle of it", "text: done")
    async with home.opened() as front:
        front.give(Prompt("work"))
        request = await front.asked()
        assert (await asked(front, "where are you?")).response == "in the middle of it"
        front.answer(request, "reject", "go on")
        assert (await front.until(TurnEnd)).outcome == "finished"


async def test_tools_that_are_called_in_it_are_not_run(home: Home) -> None:
    home.script(call("c1", "WriteFile", path="a.txt", content="x"), "text: in words, then")
    async with home.opened(yolo=True) as front:
        assert (await asked(front, "can you?")).response == "in words, then"
        assert front.of(ToolResult) == []
    assert not home.file("a.txt").exists()


async def test_what_goes_wrong_is_told(home: Home) -> None:
    home.script("error: 401 wrong key", "text: fine")
    async with home.opened() as front:
        end = await asked(front, "well?")
        assert end.response is None
        assert "wrong key" in (end.error or "")
        assert (await asked(front, "and now?")).response == "fine"
        front.give(RunSlash("btw"))
        assert (await front.told()).title == "There is no question."


async def test_one_that_takes_too_long_can_be_dropped(home: Home) -> None:
    home.script("delay: 1000")
    async with home.opened() as front:
        front.give(RunSlash("btw hm?"))
        await front.until(BtwBegin)
        await asyncio.sleep(0)
        front.give(RunSlash("title x"))
        front.give(Interrupt())
        end = await front.until(BtwEnd)
        assert end.error


async def test_at_the_end_of_the_session_open_ones_are_closed(home: Home) -> None:
    home.script("delay: 1000")
    async with home.opened() as front:
        front.give(RunSlash("btw hm?"))
        await front.until(BtwBegin)
    assert len(front.of(BtwEnd)) == 1
