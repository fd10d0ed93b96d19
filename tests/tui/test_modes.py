"""The modes that shift+tab goes through, and what the screen shows of them."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.tui.commands.modes import next_mode
from kimi_tui.wire.commands import Command, RunSlash, SetAcceptEdits, SetPlanMode
from kimi_tui.wire.events import PlanDisplay, SessionInfo, StatusUpdate, TurnBegin
from tests.tui.conftest import SESSION

ASKING = SESSION
ACCEPTING = replace(SESSION, accept_edits=True)
PLANNING = replace(SESSION, plan_mode=True)


@pytest.mark.parametrize(
    ("session", "commands"),
    [
        (ASKING, (SetAcceptEdits(True),)),
        (ACCEPTING, (SetAcceptEdits(False), SetPlanMode(True))),
        (PLANNING, (SetPlanMode(False),)),
        (replace(ASKING, yolo=True), (SetPlanMode(True),)),
        (replace(PLANNING, yolo=True), (SetPlanMode(False),)),
    ],
)
def test_each_mode_leads_to_the_next(session: SessionInfo, commands: tuple[Command, ...]) -> None:
    assert next_mode(session)[0] == commands


async def test_shift_tab_in_the_prompt_goes_to_the_next_mode(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("shift+tab")
        await desk.until(lambda: desk.told(SetAcceptEdits) == [SetAcceptEdits(True)])
        await desk.say(ACCEPTING)
        assert "accepts edits" in desk.shown().splitlines()[0]
        await desk.pilot.press("shift+tab")
        await desk.until(lambda: desk.told(SetPlanMode) == [SetPlanMode(True)])
        await desk.say(StatusUpdate(plan_mode=True))
        assert "plan" in desk.shown().splitlines()[0].split()
        assert desk.app.focused is desk.screen.prompt.editor


async def test_a_click_on_the_mode_goes_to_the_next(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(PLANNING)
        line = desk.shown().splitlines()[0]
        await desk.pilot.click("HeaderLine", offset=(line.rindex("plan") + 1, 0))
        await desk.until(lambda: desk.told(SetPlanMode) == [SetPlanMode(False)])


async def test_the_command_is_passed_on_with_its_argument(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/plan view")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(RunSlash) == [RunSlash("plan view")])
        await desk.write("/edits on")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(SetAcceptEdits) == [SetAcceptEdits(True)])


async def test_a_plan_is_drawn_as_markdown(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("go"), PlanDisplay("# Mend\n\n- **first** this\n", "/plans/s1.md"))
        await desk.until(lambda: "• first this" in desk.shown())
        assert "/plans/s1.md" in desk.shown()
