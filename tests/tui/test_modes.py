"""Permission modes that shift+tab cycles through, and their display."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.tui.commands.modes import next_mode
from kimi_tui.wire.commands import Command, RunSlash, SetAcceptEdits, SetPlanMode
from kimi_tui.wire.events import PlanDisplay, SessionInfo, StatusUpdate, TurnBegin
from tests.tui.conftest import SESSION

ASK = SESSION
ACCEPT_EDITS = replace(SESSION, accept_edits=True)
PLAN = replace(SESSION, plan_mode=True)


def edge_text(harness: Any) -> str:
    """Return the prompt's lower edge."""
    region = harness.screen.prompt.region
    return str(harness.screen_text().splitlines()[region.bottom - 1])


@pytest.mark.parametrize(
    ("session", "commands"),
    [
        (ASK, (SetAcceptEdits(True),)),
        (ACCEPT_EDITS, (SetAcceptEdits(False), SetPlanMode(True))),
        (PLAN, (SetPlanMode(False),)),
        (replace(ASK, yolo=True), (SetPlanMode(True),)),
        (replace(PLAN, yolo=True), (SetPlanMode(False),)),
    ],
)
def test_each_mode_leads_to_the_next(session: SessionInfo, commands: tuple[Command, ...]) -> None:
    assert next_mode(session)[0] == commands


async def test_shift_tab_in_the_prompt_switches_to_the_next_mode(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("shift+tab")
        await harness.wait_until(lambda: harness.commands_of(SetAcceptEdits) == [SetAcceptEdits(True)])
        await harness.wait_until(lambda: "accept edits" in edge_text(harness))
        await harness.driver.press("shift+tab")
        await harness.wait_until(lambda: harness.commands_of(SetPlanMode) == [SetPlanMode(True)])
        harness.engine.send(ASK, StatusUpdate(plan_mode=True))
        await harness.driver.pause()
        assert "plan" in edge_text(harness).split()
        assert harness.app.focused is harness.screen.prompt.editor


async def test_pressing_the_key_quickly_goes_through_all_modes_and_shows_only_the_last(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("shift+tab", "shift+tab", "shift+tab", "shift+tab")
        await harness.wait_until(lambda: "Permission mode: accept edits" in harness.screen_text())
        assert harness.commands_of(SetAcceptEdits) == [SetAcceptEdits(it) for it in (True, False, True)]
        assert harness.commands_of(SetPlanMode) == [SetPlanMode(True), SetPlanMode(False)]
        assert harness.screen_text().count("Permission mode:") == 1
        assert "accept edits" in edge_text(harness)


async def test_only_the_last_mode_is_shown_when_the_terminal_sends_several_keys_together(
    open_app: Any,
) -> None:
    async with open_app() as harness:
        await harness.driver.press_quickly("shift+tab", "shift+tab", "shift+tab")
        await harness.wait_until(lambda: "Permission mode: ask" in harness.screen_text())
        assert harness.screen_text().count("Permission mode:") == 1


async def test_a_click_on_the_mode_switches_to_the_next(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(PLAN)
        line = edge_text(harness)
        await harness.driver.click("PromptBox", offset=(line.rindex("plan") + 1, 2))
        await harness.wait_until(lambda: harness.commands_of(SetPlanMode) == [SetPlanMode(False)])


@pytest.mark.parametrize(
    ("session", "label"),
    [
        (ASK, "ask"),
        (ACCEPT_EDITS, "accept edits"),
        (PLAN, "plan"),
        (replace(ASK, yolo=True), "yolo"),
        (replace(PLAN, yolo=True), "plan · yolo"),
    ],
)
async def test_the_edge_of_the_prompt_names_the_mode_and_its_key(
    open_app: Any, session: SessionInfo, label: str
) -> None:
    async with open_app(session=session) as harness:
        await harness.wait_until(
            lambda: edge_text(harness).startswith(f"╰─ {label} · shift+tab to change mode ──")
        )


async def test_the_key_is_not_named_where_it_moves_the_focus(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.wait_until(lambda: "shift+tab" in edge_text(harness))
        await harness.driver.press("ctrl+l")
        await harness.wait_until(lambda: edge_text(harness).startswith("╰─ ask ──"))
        await harness.driver.press("ctrl+l")
        await harness.wait_until(lambda: "shift+tab" in edge_text(harness))


async def test_a_narrow_edge_keeps_the_mode_and_the_actions(open_app: Any) -> None:
    async with open_app(session=ACCEPT_EDITS, size=(40, 12)) as harness:
        await harness.wait_until(lambda: "accept edits · shift+tab ──" in edge_text(harness))
        await harness.type_text("hello")
        await harness.wait_until(lambda: edge_text(harness).endswith("+  ↵ send ─╯"))
        assert edge_text(harness).startswith("╰─ accept edits ──")


async def test_a_read_only_session_has_no_permission_mode(open_app: Any) -> None:
    async with open_app(session=replace(SESSION, read_only=True)) as harness:
        await harness.wait_until(lambda: "read-only" in harness.screen_text())
        assert "ask" not in edge_text(harness)


async def test_plan_is_sent_to_the_engine_and_edits_sets_the_mode(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/plan view")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(RunSlash) == [RunSlash("plan view")])
        await harness.type_text("/edits on")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(SetAcceptEdits) == [SetAcceptEdits(True)])


async def test_a_plan_is_rendered_as_markdown(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("go"), PlanDisplay("# Fix\n\n- **first** this\n", "/plans/s1.md"))
        await harness.wait_until(lambda: "• first this" in harness.screen_text())
        assert "/plans/s1.md" in harness.screen_text()
