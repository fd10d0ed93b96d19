"""Hunks and choices in the plan dialog, by keyboard and mouse."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.tui.widgets.hunk_view import HunkView
from kimi_tui.wire.commands import Revert
from kimi_tui.wire.timeline import FileChoice, RevertPlan
from kimi_tui.wire.why import ExplainLine, LineReason
from tests.tui.conftest import AppHarness
from tests.tui.timeline.sample_hunks import HUNKS_PLAN
from tests.tui.timeline.test_dialogs import click_text, files, open_plan

SIZES = pytest.mark.parametrize("size", [(80, 24), (80, 40), (140, 40)], ids=str)


async def open_hunks_plan(harness: AppHarness, plan: RevertPlan = HUNKS_PLAN) -> None:
    await open_plan(harness, "down", "enter", plan=plan)


async def revert(harness: AppHarness) -> Revert:
    """Confirm the plan. Return the command."""
    await harness.driver.press("enter")
    await harness.wait_until(lambda: harness.commands_of(Revert))
    [command] = harness.commands_of(Revert)
    return command


@SIZES
async def test_single_hunks_are_excluded_by_keyboard(open_timeline: Any, size: tuple[int, int]) -> None:
    async with open_timeline(size=size) as harness:
        await open_hunks_plan(harness)
        await harness.driver.press("end", "right")
        await harness.wait_until(lambda: harness.app.screen.query_one(HunkView).has_focus)
        await harness.driver.press("j", "space")
        await harness.wait_until(lambda: "[-] restore src/auth.py" in harness.unwrapped_text())
        shown = harness.unwrapped_text()
        assert "2 of 3 files +2 −3" in shown  # the file counts only its two included hunks
        assert "[ ] line 40 −1" in shown
        await harness.driver.press("escape")
        await harness.wait_until(lambda: files(harness).has_focus)
        choices = (FileChoice("src/auth.py", hunks=("one", "three")),)
        assert await revert(harness) == Revert(12, "both", None, choices=choices)


async def test_excluding_all_hunks_deselects_the_file(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_hunks_plan(harness)
        await harness.driver.press("end", "right", "a")
        await harness.wait_until(lambda: "[ ] restore src/auth.py" in harness.unwrapped_text())
        await harness.driver.press("space")
        await harness.wait_until(lambda: "[-] restore src/auth.py" in harness.unwrapped_text())
        await harness.driver.press("left", "space", "space")  # off, and on again with all hunks
        await harness.wait_until(lambda: "[✔] restore src/auth.py" in harness.unwrapped_text())
        assert await revert(harness) == Revert(12, "both", None)


async def test_a_conflict_is_kept_unless_another_choice_is_made(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_hunks_plan(harness)
        await harness.driver.press("down")
        await harness.wait_until(lambda: "● 1 keep mine" in harness.unwrapped_text())
        await harness.driver.press("4")
        await harness.wait_until(lambda: "[✔] both b.py" in harness.unwrapped_text())
        assert "● 4 keep both versions of conflicting lines" in harness.unwrapped_text()
        command = await revert(harness)
        assert command.paths is not None
        assert set(command.paths) == {"a.py", "b.py", "src/auth.py"}
        assert command.choices == (FileChoice("b.py", "both"),)


async def test_the_plan_names_where_a_replaced_version_is_saved(open_timeline: Any) -> None:
    async with open_timeline(size=(80, 24)) as harness:
        await open_hunks_plan(harness, replace(HUNKS_PLAN, saved_in=14))
        await harness.driver.press("end")
        await harness.wait_until(
            lambda: "/revert 14 files --only FILE restores it." in harness.unwrapped_text()
        )
        assert "it is saved in checkpoint 14" in harness.unwrapped_text()


async def test_a_file_that_the_agent_created_can_be_kept_or_deleted(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_hunks_plan(harness)
        await harness.wait_until(lambda: "● 2 remove only the agent's lines" in harness.unwrapped_text())
        await harness.driver.press("1")
        await harness.wait_until(lambda: "[ ] keep a.py" in harness.unwrapped_text())
        await harness.driver.press("4")  # it has no such choice
        await harness.driver.press("3")
        await harness.wait_until(lambda: "[✔] delete a.py" in harness.unwrapped_text())
        assert "● 3 restore the checkpoint: delete the file" in harness.unwrapped_text()
        assert (await revert(harness)).choices == (FileChoice("a.py", "checkpoint"),)


@SIZES
async def test_hunks_and_choices_are_clickable(open_timeline: Any, size: tuple[int, int]) -> None:
    async with open_timeline(size=size) as harness:
        await open_hunks_plan(harness)
        await harness.wait_until(lambda: "○ 3 restore the checkpoint" in harness.screen_text())
        await click_text(harness, "○ 3 restore the checkpoint", at=3)
        await harness.wait_until(lambda: "[✔] delete" in harness.unwrapped_text())
        await harness.driver.press("left", "end")
        await harness.wait_until(lambda: "[✔] line 12" in harness.screen_text())
        await click_text(harness, "[✔] line 12", at=1)
        await harness.wait_until(lambda: "[ ] line 12" in harness.screen_text())
        choices = (FileChoice("a.py", "checkpoint"), FileChoice("src/auth.py", hunks=("two", "three")))
        assert await revert(harness) == Revert(12, "both", None, choices=choices)


async def test_the_hint_opens_the_hunks(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_hunks_plan(harness)
        await harness.driver.press("end")
        await harness.wait_until(lambda: "→ hunks" in harness.screen_text())
        await click_text(harness, "→ hunks", at=2)
        await harness.wait_until(lambda: harness.app.screen.query_one(HunkView).has_focus)
        await click_text(harness, "spc select" if "spc select" in harness.screen_text() else "space select")
        await harness.wait_until(lambda: "[ ] line 12" in harness.screen_text())


async def test_only_the_conversation_has_no_choices(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_hunks_plan(harness)
        await harness.driver.press("c", "3")
        assert await revert(harness) == Revert(12, "conversation", None)


async def test_why_of_a_hunk_is_shown_above_the_plan(open_timeline: Any) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await open_hunks_plan(harness)
        await harness.driver.press("end", "right", "j", "w")
        await harness.wait_until(lambda: harness.commands_of(ExplainLine))
        assert harness.commands_of(ExplainLine) == [ExplainLine("src/auth.py", 40)]
        harness.engine.send(LineReason(path="src/auth.py", line=40, text="    log(user)", by="agent"))
        await harness.wait_until(lambda: "line 40: the agent" in harness.unwrapped_text())
