"""The dialogs that start, compare and adopt attempts, by keyboard and mouse."""

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from kimi_tui.tui.attempts.attempts_dialog import AttemptsDialog
from kimi_tui.tui.attempts.start_attempts_dialog import StartAttemptsDialog
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.timeline.plan_dialog import PlanDialog
from kimi_tui.wire.attempts import (
    AdoptAttempts,
    Attempt,
    AttemptChanges,
    AttemptFiles,
    AttemptList,
    AttemptOptions,
    DiscardAttempts,
    PlanAdoption,
    ReadAttempt,
    StartAttempts,
    StopAttempts,
)
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.events import Notification
from kimi_tui.wire.timeline import ComparedFile, PlannedFile, Reverted, RevertPlan
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.timeline.test_dialogs import click_text

PROMPT = "reject locked users"
FIRST = Attempt(
    number=1,
    checkpoint=4,
    prompt=PROMPT,
    model="kimi-k2",
    thinking="high",
    state="finished",
    duration_s=83.0,
    cost_usd=0.42,
    last_message="Locked users are rejected.\n\nThe tests pass.",
    check="pytest -q",
    verdict="pass",
    files=2,
    added=5,
    removed=1,
)
SECOND = replace(
    FIRST,
    number=2,
    model="claude",
    thinking="off",
    verdict="fail",
    check_output="1 failed, 8 passed",
    last_message="I added a check.",
    files=1,
    added=1,
)
RUNNING = Attempt(number=3, checkpoint=4, prompt=PROMPT, model="gpt", thinking="low", state="running")
ATTEMPTS = AttemptList((FIRST, SECOND, RUNNING))
AUTH, TEST = "src/auth.py", "tests/test_auth.py"


def changed(path: str, new: str) -> ComparedFile:
    """Return a changed file."""
    return ComparedFile(path, "changed", 1, 1, DiffBlock(path, "    return True\n", f"    {new}\n"))


NEW = {1: "not user.locked", 2: "user.active"}
FILES = {
    1: (changed(AUTH, f"return {NEW[1]}"), ComparedFile(TEST, "added", 4)),
    2: (changed(AUTH, f"return {NEW[2]}"),),
}
PLAN = RevertPlan(
    to=4,
    scope="files",
    reason="adopt",
    files=(
        PlannedFile(AUTH, "restore", added=1, removed=1),
        PlannedFile(TEST, "conflict", added=4, ticked=False),
    ),
)
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 45)], ids=str)


async def open_attempts(harness: AppHarness, attempts: AttemptList = ATTEMPTS) -> None:
    """Open the comparison, and send what the first attempt changed."""
    harness.engine.send(attempts)
    await harness.type_text("/attempts")
    await harness.driver.press("enter")
    first = AttemptsDialog if attempts.attempts else StartAttemptsDialog
    await harness.wait_until(lambda: isinstance(harness.app.screen, first))
    if attempts.attempts:
        await show_files(harness, 1)


async def show_files(harness: AppHarness, number: int) -> None:
    """Send what an attempt changed once the dialog has asked for it."""
    await harness.wait_until(lambda: ReadAttempt(number) in harness.commands_of(ReadAttempt))
    attempt = next(each for each in ATTEMPTS.attempts if each.number == number)
    harness.engine.send(AttemptChanges(attempt, FILES[number]))
    await harness.wait_until(lambda: f"return {NEW[number]}" in harness.screen_text())


@SIZES
async def test_attempts_are_compared(open_app: Any, size: tuple[int, int]) -> None:
    async with open_app(size=size) as harness:
        await open_attempts(harness)
        shown = harness.screen_text()
        assert "1  kimi-k2 · high  ✔ passes" in shown
        assert "2  claude          ✗ fails" in shown
        assert "3  gpt · low       running" in shown
        assert "1 min 23 s" in shown
        assert "$0.42" in shown
        assert "3 attempts · 1 is running" in shown
        await harness.driver.press("right")
        await show_files(harness, 2)
        await harness.driver.press("end", "up")
        await harness.wait_until(lambda: "1 failed, 8 passed" in harness.screen_text())
        await harness.driver.press("right")
        await harness.wait_until(lambda: AUTH not in harness.screen_text())


async def test_the_diff_of_a_later_file_is_requested_once_it_is_highlighted(open_app: Any) -> None:
    async with open_app(size=(120, 40)) as harness:
        later = ComparedFile("zz.py", "changed", 1, 1, no_diff="Not shown yet.", is_on_request=True)
        harness.engine.send(ATTEMPTS)
        await harness.type_text("/attempts")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(ReadAttempt) == [ReadAttempt(1)])
        harness.engine.send(AttemptChanges(FIRST, (*FILES[1], later)))
        await harness.wait_until(lambda: "zz.py" in harness.screen_text())
        await harness.driver.press("space", "down", "down")
        await harness.wait_until(lambda: ReadAttempt(1, "zz.py") in harness.commands_of(ReadAttempt))
        harness.engine.send(AttemptChanges(FIRST, (changed("zz.py", "return late"),), "zz.py"))
        await harness.wait_until(lambda: "return late" in harness.screen_text())
        await harness.driver.press("up", "down")
        await harness.wait_until(lambda: "return late" in harness.screen_text())
        assert len(harness.commands_of(ReadAttempt)) == 2
        assert "1 file selected" in harness.screen_text()


async def test_files_of_several_attempts_are_adopted_as_the_plan_shows(open_app: Any) -> None:
    async with open_app(size=(100, 30)) as harness:
        await open_attempts(harness)
        await harness.driver.press("space", "right")
        await show_files(harness, 2)
        await harness.driver.press("a")
        await harness.wait_until(lambda: "2 files selected of 2 attempts" in harness.screen_text())
        assert "[–]  1" in harness.screen_text()
        assert "[✔]  2" in harness.screen_text()
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, PlanDialog))
        files = (AttemptFiles(1, (AUTH,)), AttemptFiles(2, (AUTH,)))
        assert harness.commands_of(PlanAdoption) == [PlanAdoption((1, 2), files)]
        harness.engine.send(PLAN)
        await harness.wait_until(lambda: "The attempt changed this file." in harness.screen_text())
        shown = harness.screen_text()
        assert "Adopt attempts 1, 2" in shown
        assert "1 conflict" in shown
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(AdoptAttempts))
        assert harness.commands_of(AdoptAttempts) == [AdoptAttempts((1, 2), None, (), files)]
        harness.engine.send(Reverted(5, 5, "adopt", files=(AUTH,)))
        await harness.wait_until(lambda: "selected" not in harness.screen_text())


async def test_without_a_selection_the_shown_attempt_is_adopted(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_attempts(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(PlanAdoption))
        assert harness.commands_of(PlanAdoption) == [PlanAdoption((1,))]


async def test_attempts_are_selected_and_adopted_with_the_mouse(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_attempts(harness)
        await click_text(harness, "claude")
        await show_files(harness, 2)
        await click_text(harness, "[ ] changed")
        await harness.wait_until(lambda: "1 file selected of 1 attempt" in harness.screen_text())
        await click_text(harness, "adopt, with a preview")
        await harness.wait_until(lambda: harness.commands_of(PlanAdoption))
        assert harness.commands_of(PlanAdoption) == [PlanAdoption((2,), (AttemptFiles(2, (AUTH,)),))]


async def test_changes_of_the_attempts_are_followed(open_app: Any) -> None:
    async with open_app(size=(100, 30)) as harness:
        await open_attempts(harness)
        ended = replace(RUNNING, state="limited", duration_s=9.0, problem="Its time limit was reached.")
        harness.engine.send(AttemptList((FIRST, SECOND, ended)))
        await harness.wait_until(lambda: "limit reached" in harness.screen_text())
        assert "3 attempts · " not in harness.screen_text()
        await harness.driver.press("left")
        await harness.wait_until(lambda: "Its time limit was reached." in harness.screen_text())
        harness.engine.send(AttemptList((SECOND,), is_requested=True))
        await harness.wait_until(lambda: "kimi-k2" not in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, AttemptsDialog))
        assert harness.screen_text().count("claude") == 1  # not again: the dialog has shown the last list


async def test_attempts_that_change_while_the_dialog_opens_are_shown(open_app: Any) -> None:
    async with open_app(size=(100, 30)) as harness:
        host = harness.screen.controllers.host
        dialog = AttemptsDialog(
            is_starting=True, planner=Mock(), host=host, queries=Mock(), key_labels=KeyLabels({})
        )
        assert dialog.show_attempts(ATTEMPTS)
        harness.app.push_screen(dialog)
        await harness.wait_until(lambda: "3 attempts · 1 is running" in harness.screen_text())


async def test_attempts_are_stopped_and_discarded(open_app: Any) -> None:
    async with open_app(size=(100, 30)) as harness:
        await open_attempts(harness)
        await harness.driver.press("x", "delete")
        await harness.wait_until(lambda: "press again to discard" in harness.screen_text())
        assert harness.commands_of(DiscardAttempts) == []
        await harness.driver.press("delete")
        await harness.wait_until(lambda: harness.commands_of(DiscardAttempts))
        assert harness.commands_of(DiscardAttempts) == [DiscardAttempts((1,))]
        assert harness.commands_of(StopAttempts) == []
        await harness.driver.press("left", "x", "delete", "delete")
        await harness.wait_until(lambda: harness.commands_of(StopAttempts))
        assert harness.commands_of(StopAttempts) == [StopAttempts((3,))]
        assert harness.commands_of(DiscardAttempts) == [DiscardAttempts((1,))]


SEVERAL_MODELS = replace(
    SESSION,
    model="kimi-k2",
    models=("kimi-k2", "claude"),
    thinking_effort="high",
    thinking_levels=("off", "high"),
)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_the_first_attempts_are_started_at_once(open_app: Any, size: tuple[int, int]) -> None:
    async with open_app(size=size) as harness:
        harness.engine.send(SEVERAL_MODELS)
        await open_attempts(harness, AttemptList())
        shown = harness.screen_text()
        assert "Start attempts from your last prompt" in shown
        assert "[✔] kimi-k2" in shown
        assert "[ ] claude" in shown
        assert "[✔] high" in shown
        await harness.driver.press("down", "space")
        await harness.wait_until(lambda: "2 attempts" in harness.screen_text())
        await harness.driver.press("tab", "tab", *"again", "tab", *"2x")
        await harness.wait_until(
            lambda: "attempts each: enter a number greater than 0." in harness.screen_text()
        )
        await harness.driver.press("enter", "backspace", "tab", *"make", "tab", *"1.5", "tab", *"60")
        await harness.wait_until(lambda: "4 attempts" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(StartAttempts))
    options = [AttemptOptions(prompt="again", model=name, thinking="high") for name in ("kimi-k2", "claude")]
    assert harness.commands_of(StartAttempts) == [
        StartAttempts(
            attempts=tuple(each for each in options for _ in range(2)),
            check="make",
            max_cost_usd=1.5,
            max_time_s=60.0,
        )
    ]


async def test_a_problem_is_shown_in_the_dialog(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_attempts(harness, AttemptList())
        await click_text(harness, "enter start")
        await harness.wait_until(lambda: harness.commands_of(StartAttempts))
        error = Notification("n", "", "", "", "", "The model has no price.", "Add one.", "error")
        harness.engine.send(error)
        await harness.wait_until(lambda: "The model has no price. Add one." in harness.screen_text())
        await harness.driver.press("n", "escape", "escape")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, AttemptsDialog))


async def test_nothing_is_started_or_left_open_after_escape(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_attempts(harness, AttemptList())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.app.screen is harness.screen)
        assert harness.commands_of(StartAttempts) == []


async def test_attempts_start_from_the_checkpoint_that_the_timeline_highlights(open_timeline: Any) -> None:
    async with open_timeline(size=(100, 30)) as harness:
        await harness.driver.press("end", "a")
        await harness.wait_until(lambda: isinstance(harness.app.screen, StartAttemptsDialog))
        assert "(checkpoint 0)" in harness.unwrapped_text()
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(StartAttempts))
        assert [command.checkpoint for command in harness.commands_of(StartAttempts)] == [0]
        harness.engine.send(AttemptList((replace(RUNNING, checkpoint=0),)))
        await harness.wait_until(lambda: "1 attempt · 1 is running" in harness.unwrapped_text())


async def test_the_command_shows_the_plan_before_it_adopts(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.type_text("/attempts --adopt 1,2")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, PlanDialog))
        assert harness.commands_of(PlanAdoption) == [PlanAdoption((1, 2))]
        harness.engine.send(PLAN)
        await harness.wait_until(lambda: "The attempt changed this file." in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(AdoptAttempts))
        assert harness.commands_of(AdoptAttempts) == [AdoptAttempts((1, 2))]


async def test_a_key_opens_the_comparison(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.send(ATTEMPTS)
        await harness.driver.press("alt+a")
        await harness.wait_until(lambda: isinstance(harness.app.screen, AttemptsDialog))


async def test_wrapped_lines_of_the_list_keep_their_indentation(open_app: Any) -> None:
    problem = "It couldn't run this call: " + "word " * 20
    async with open_app(size=(60, 40)) as harness:
        attempts = (replace(RUNNING, state="failed", problem=problem.strip()),)
        await harness.send(AttemptList(attempts, is_requested=True))
        lines = harness.screen_text().split("\n")
        rows = [line for line in lines if "word word" in line]
        assert len(rows) > 2
        assert {len(row) - len(row.lstrip()) for row in rows} == {rows[0].index("It couldn't")}
