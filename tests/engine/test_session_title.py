"""Titles of sessions: the first prompt, then the model's title, unless the user sets one."""

from kimi_tui.config.settings import ModelPrice
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash
from kimi_tui.wire.events import CostUpdate, SessionInfo, StepBegin, TurnEnd
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, script

TITLE = script("title: Fix the login form", "usage: input_other=40 output=5")


async def wait_for_title(front: FakeFrontEnd, title: str) -> None:
    await front.wait_for(SessionInfo, where=lambda info: info.title == title)


async def test_the_model_titles_a_session_after_its_first_turn(home: SessionEnv) -> None:
    home.script("text: hello", TITLE, "text: again")
    home.price = ModelPrice(input=1_000_000, output=1_000_000)
    async with home.open_session() as front:
        await front.turn("the login form returns 500, please have a look")
        await wait_for_title(front, "Fix the login form")
        assert front.of(CostUpdate)[-1].cost_usd == 45
        assert len(front.of(StepBegin)) == 1
        assert (await front.turn("more")).outcome == "finished"
    assert home.state["title"] == "Fix the login form"
    assert "Fix the login form" not in home.journal


async def test_a_turn_does_not_wait_for_the_title(home: SessionEnv) -> None:
    home.script("text: hello", "title: never\ndelay: 1000", "text: again")
    async with home.open_session() as front:
        await front.turn("hello there")
        assert (await front.turn("more")).outcome == "finished"
    assert home.state["title"] == "hello there"


async def test_a_title_that_the_user_set_stays(home: SessionEnv) -> None:
    home.script("text: hello", f"delay: 0.2\n{TITLE}")
    home.price = ModelPrice(input=1)
    async with home.open_session() as front:
        await front.turn("hello there")
        front.send(RunSlash("title mine"))
        await wait_for_title(front, "mine")
        if not front.of(CostUpdate):
            await front.wait_for(CostUpdate)
    assert home.state["title"] == "mine"


async def test_a_setting_turns_titles_off(home: SessionEnv) -> None:
    home.script("text: hello", TITLE)
    async with home.open_session(settings=home.settings(session_titles=False)) as front:
        await front.turn("hello there")
    assert home.state["title"] == "hello there"
    async with home.open_session(generates_title=False, continue_last=True):
        pass
    assert home.state["title"] == "hello there"


async def test_a_resumed_session_that_has_no_title_yet_gets_one(home: SessionEnv) -> None:
    home.script("text: hello", TITLE, "text: again")
    async with home.open_session(generates_title=False) as front:
        await front.turn("hello there")
    async with home.open_session(continue_last=True) as front:
        await front.turn("more")
        await wait_for_title(front, "Fix the login form")


async def test_a_failed_request_is_repeated_after_the_next_turn_only(home: SessionEnv) -> None:
    home.script("text: 1", "title: x\nerror: 500 broken", "text: 2", TITLE)
    async with home.open_session() as front:
        await front.turn("hello there")
        await front.turn("more")
        await wait_for_title(front, "Fix the login form")


async def test_an_interrupted_first_turn_gets_no_title(home: SessionEnv) -> None:
    home.script("delay: 1000\ntext: x", TITLE)
    async with home.open_session() as front:
        front.send(Prompt("hello there"))
        await front.wait_for(StepBegin)
        front.send(Interrupt())
        await front.wait_for(TurnEnd)
    assert home.state["title"] == "hello there"


async def test_a_generated_title_is_one_clean_line(home: SessionEnv) -> None:
    home.script("text: hello", r'title: "\n\n**\"Fix \u001b[31mthe login\"**.\nAnd more"')
    async with home.open_session() as front:
        await front.turn("hello there")
        await wait_for_title(front, "Fix the login")


async def test_a_response_that_is_no_title_is_cut_off(home: SessionEnv) -> None:
    home.script("text: hello", f"title: {'Fix the login form. ' * 50}\ndelay: 1000")
    async with home.open_session() as front:
        await front.turn("hello there")
        await wait_for_title(front, "Fix the login form. Fix the login form. Fix the login form.…")


async def test_a_session_is_titled_only_once(home: SessionEnv) -> None:
    home.script("text: hello", TITLE, "text: again", "title: Another")
    async with home.open_session() as front:
        await front.turn("hello there")
        await wait_for_title(front, "Fix the login form")
    async with home.open_session(continue_last=True) as front:
        await front.turn("more")
    assert home.state["title"] == "Fix the login form"
