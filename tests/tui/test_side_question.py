"""Side questions and their pane."""

from typing import Any

import pytest

from kimi_tui.wire.commands import Interrupt
from kimi_tui.wire.events import BtwBegin, BtwEnd, StepBegin, TurnBegin
from tests.tui.conftest import AppHarness


async def ask_side_question(harness: AppHarness) -> None:
    await harness.send(TurnBegin("go"), StepBegin(1))
    harness.engine.send(BtwBegin("b1", "what is **it**?"))
    await harness.wait_until(lambda: "by the way: what is **it**?" in harness.screen_text())


async def test_the_response_is_shown_below_the_question(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_side_question(harness)
        assert "waiting for the response" in harness.screen_text()
        harness.engine.send(BtwEnd("b1", response="It is **42**.\n\n- a\n- b"))
        await harness.wait_until(
            lambda: "It is 42." in harness.screen_text() and "• a" in harness.screen_text()
        )
        assert "waiting for the response" not in harness.screen_text()


async def test_a_response_that_arrives_with_its_question_is_shown(
    open_app: Any,
) -> None:
    async with open_app() as harness:
        harness.engine.send(
            TurnBegin("look here"), BtwBegin("b1", "what?"), BtwEnd("b1", response="It is 42.")
        )
        await harness.wait_until(
            lambda: "It is 42." in harness.screen_text() and "y copy" in harness.screen_text()
        )
        assert "look here" in harness.screen_text()


async def test_escape_closes_the_pane_without_interrupting(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_side_question(harness)
        harness.engine.send(BtwEnd("b1", response="42"))
        await harness.wait_until(lambda: "42" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "by the way" not in harness.screen_text())
        assert harness.commands_of(Interrupt) == []
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(Interrupt) == [Interrupt()])


@pytest.mark.parametrize("label", ["■ stop", "esc to interrupt"])
async def test_a_click_on_stop_interrupts_the_turn_and_keeps_the_pane(open_app: Any, label: str) -> None:
    async with open_app() as harness:
        await ask_side_question(harness)
        await harness.wait_until(lambda: label in harness.screen_text())
        row = next(y for y, line in enumerate(harness.screen_text().split("\n")) if label in line)
        await harness.driver.click(offset=(harness.screen_text().split("\n")[row].index(label), row))
        await harness.wait_until(lambda: harness.commands_of(Interrupt) == [Interrupt()])
        assert "by the way" in harness.screen_text()


async def test_a_click_on_the_cross_closes_the_pane(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_side_question(harness)
        await harness.driver.click("CloseButton")
        await harness.wait_until(lambda: "by the way" not in harness.screen_text())
        assert harness.app.focused is harness.screen.prompt.editor


async def test_a_failure_is_shown(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_side_question(harness)
        harness.engine.send(BtwEnd("b1", error="The key is wrong."))
        await harness.wait_until(lambda: "The key is wrong." in harness.screen_text())


async def test_a_new_question_replaces_the_old_one(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_side_question(harness)
        harness.engine.send(BtwBegin("b2", "and what else?"), BtwEnd("b1", response="late"))
        await harness.wait_until(lambda: "and what else?" in harness.screen_text())
        assert "late" not in harness.screen_text()
        assert len(harness.app.screen.query("SideQuestionPane")) == 1


async def test_a_long_response_can_be_scrolled_and_copied(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await ask_side_question(harness)
        text = "\n".join(f"- line {n}" for n in range(100))
        harness.engine.send(BtwEnd("b1", response=text))
        await harness.wait_until(lambda: "line 3" in harness.screen_text())
        assert "❯" in harness.screen_text()
        harness.app.screen.query_one("SideQuestionPane").focus()
        await harness.driver.press(*["down"] * 30, "y")
        await harness.wait_until(lambda: "line 32" in harness.screen_text())
        await harness.wait_until(lambda: harness.clipboard.text == text)
        await harness.driver.press("q")
        await harness.wait_until(lambda: "by the way" not in harness.screen_text())
        assert harness.app.focused is harness.screen.prompt.editor


async def test_hostile_text_is_shown_as_text(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("go"))
        harness.engine.send(
            BtwBegin("b1", "\x1b[31m[b]x[/b]"), BtwEnd("b1", response="\x1b]0;pwned\x07[red]y[/]")
        )
        await harness.wait_until(lambda: "[red]y[/]" in harness.screen_text())
        assert "[b]x[/b]" in harness.screen_text()
        assert "\x1b" not in harness.screen_text()


async def test_the_hints_follow_the_keymap(open_app: Any) -> None:
    async with open_app(keymap={"aside.copy": "c", "aside.close": "x"}) as harness:
        await ask_side_question(harness)
        harness.engine.send(BtwEnd("b1", response="42"))
        await harness.wait_until(
            lambda: "c copy" in harness.screen_text() and "x close" in harness.screen_text()
        )
