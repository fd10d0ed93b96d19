"""Side questions: shown in a panel of their own, and put away."""

from typing import Any

import pytest

from kimi_tui.wire.commands import Interrupt
from kimi_tui.wire.events import BtwBegin, BtwEnd, StepBegin, TurnBegin
from tests.tui.conftest import Desk


async def asked(desk: Desk) -> None:
    await desk.say(TurnBegin("go"), StepBegin(1))
    desk.engine.say(BtwBegin("b1", "what is **it**?"))
    await desk.until(lambda: "by the way: what is **it**?" in desk.shown())


async def test_the_answer_is_drawn_where_the_question_stands(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk)
        assert "thinking about it" in desk.shown()
        desk.engine.say(BtwEnd("b1", response="It is **42**.\n\n- a\n- b"))
        await desk.until(lambda: "It is 42." in desk.shown() and "• a" in desk.shown())
        assert "thinking about it" not in desk.shown()


async def test_an_answer_that_comes_with_its_question_is_shown_beside_the_conversation(
    open_desk: Any,
) -> None:
    async with open_desk() as desk:
        desk.engine.say(TurnBegin("look here"), BtwBegin("b1", "what?"), BtwEnd("b1", response="It is 42."))
        await desk.until(lambda: "It is 42." in desk.shown() and "y copies" in desk.shown())
        assert "look here" in desk.shown()


async def test_escape_puts_it_away_and_leaves_the_turn_alone(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk)
        desk.engine.say(BtwEnd("b1", response="42"))
        await desk.until(lambda: "42" in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: "by the way" not in desk.shown())
        assert desk.told(Interrupt) == []
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.told(Interrupt) == [Interrupt()])


@pytest.mark.parametrize("words", ["■ stop", "esc interrupts"])
async def test_a_click_on_stop_stops_the_turn_and_leaves_it_there(open_desk: Any, words: str) -> None:
    async with open_desk() as desk:
        await asked(desk)
        await desk.until(lambda: words in desk.shown())
        row = next(y for y, line in enumerate(desk.shown().split("\n")) if words in line)
        await desk.pilot.click(offset=(desk.shown().split("\n")[row].index(words), row))
        await desk.until(lambda: desk.told(Interrupt) == [Interrupt()])
        assert "by the way" in desk.shown()


async def test_a_click_on_the_cross_puts_it_away(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk)
        await desk.pilot.click("#aside-close")
        await desk.until(lambda: "by the way" not in desk.shown())
        assert desk.app.focused is desk.screen.prompt.editor


async def test_a_failure_is_said(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk)
        desk.engine.say(BtwEnd("b1", error="The key is wrong."))
        await desk.until(lambda: "The key is wrong." in desk.shown())


async def test_a_new_question_takes_the_place_of_the_old_one(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk)
        desk.engine.say(BtwBegin("b2", "and what else?"), BtwEnd("b1", response="late"))
        await desk.until(lambda: "and what else?" in desk.shown())
        assert "late" not in desk.shown()
        assert len(desk.app.screen.query("Aside")) == 1


async def test_a_long_answer_is_scrolled_and_copied_and_leaves_room(open_desk: Any) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await asked(desk)
        text = "\n".join(f"- line {n}" for n in range(100))
        desk.engine.say(BtwEnd("b1", response=text))
        await desk.until(lambda: "line 3" in desk.shown())
        assert "❯" in desk.shown()
        desk.app.screen.query_one("Aside").focus()
        await desk.pilot.press(*["down"] * 30, "y")
        await desk.until(lambda: "line 32" in desk.shown())
        await desk.until(lambda: desk.clipboard.text == text)
        await desk.pilot.press("q")
        await desk.until(lambda: "by the way" not in desk.shown())
        assert desk.app.focused is desk.screen.prompt.editor


async def test_hostile_text_is_shown_as_text(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("go"))
        desk.engine.say(
            BtwBegin("b1", "\x1b[31m[b]x[/b]"), BtwEnd("b1", response="\x1b]0;pwned\x07[red]y[/]")
        )
        await desk.until(lambda: "[red]y[/]" in desk.shown())
        assert "[b]x[/b]" in desk.shown()
        assert "\x1b" not in desk.shown()


async def test_it_names_the_keys_of_the_users_map(open_desk: Any) -> None:
    async with open_desk(keymap={"aside.copy": "c", "aside.close": "x"}) as desk:
        await asked(desk)
        desk.engine.say(BtwEnd("b1", response="42"))
        await desk.until(lambda: "c copies" in desk.shown() and "x puts it away" in desk.shown())
