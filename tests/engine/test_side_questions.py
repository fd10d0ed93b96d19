"""Side questions: answered without becoming part of the conversation."""

import asyncio

from kimi_tui.config.settings import ModelPrice
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash
from kimi_tui.wire.events import BtwBegin, BtwEnd, CostUpdate, StepBegin, ToolResult, TurnEnd
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, script


async def ask(front: FakeFrontEnd, question: str) -> BtwEnd:
    front.send(RunSlash(f"btw {question}"))
    begin = await front.wait_for(BtwBegin)
    assert begin.question == question
    end = await front.wait_for(BtwEnd)
    assert end.id == begin.id
    return end


async def test_a_question_is_answered_without_changing_the_conversation(home: SessionEnv) -> None:
    home.script("text: hello", script("text: it is forty-two", "usage: input_other=10 output=5"), "text: bye")
    home.price = ModelPrice(input=1_000_000, output=1_000_000)
    async with home.open_session() as front:
        await front.turn("hello")
        assert (await ask(front, "what is it?")).response == "it is forty-two"
        assert front.of(CostUpdate)[-1].cost_usd == 15
        assert len(front.of(StepBegin)) == 1
        await front.turn("bye")
    assert "bye" in home.journal
    assert "forty-two" not in home.journal
    assert "what is it?" not in home.journal


async def test_a_question_is_answered_during_a_turn(home: SessionEnv) -> None:
    home.script(bash("c1", "sleep 100"), "text: in the middle of it", "text: done")
    async with home.open_session() as front:
        front.send(Prompt("work"))
        request = await front.next_approval_request()
        assert (await ask(front, "where are you?")).response == "in the middle of it"
        front.answer(request, "reject", "go on")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"


async def test_tool_calls_in_the_response_are_not_run(home: SessionEnv) -> None:
    home.script(call("c1", "WriteFile", path="a.txt", content="x"), "text: in words, then")
    async with home.open_session(yolo=True) as front:
        assert (await ask(front, "can you?")).response == "in words, then"
        assert front.of(ToolResult) == []
    assert not home.file("a.txt").exists()


async def test_errors_are_reported(home: SessionEnv) -> None:
    home.script("error: 401 wrong key", "text: fine")
    async with home.open_session() as front:
        end = await ask(front, "well?")
        assert end.response is None
        assert "wrong key" in (end.error or "")
        assert (await ask(front, "and now?")).response == "fine"
        front.send(RunSlash("btw"))
        assert (await front.next_notification()).title == "/btw requires a question."


async def test_a_question_can_be_interrupted(home: SessionEnv) -> None:
    home.script("delay: 1000")
    async with home.open_session() as front:
        front.send(RunSlash("btw hm?"))
        await front.wait_for(BtwBegin)
        await asyncio.sleep(0)
        front.send(RunSlash("title x"))
        front.send(Interrupt())
        end = await front.wait_for(BtwEnd)
        assert end.error


async def test_open_questions_are_closed_at_the_end_of_the_session(home: SessionEnv) -> None:
    home.script("delay: 1000")
    async with home.open_session() as front:
        front.send(RunSlash("btw hm?"))
        await front.wait_for(BtwBegin)
    assert len(front.of(BtwEnd)) == 1
