"""Results of checks and attempts, line by line."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.i18n.translate import set_language
from kimi_tui.wire.attempts import Attempt, AttemptChanges, AttemptList
from kimi_tui.wire.checks import CheckResult
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.events import SlashCommandInfo
from kimi_tui.wire.timeline import ComparedFile
from tests.tui.conftest import SESSION

FAILED = CheckResult(
    checkpoint=12,
    label="EditFile src/auth.py",
    command="pytest -q",
    verdict="fail",
    change="began_to_fail",
    output="FAILED tests/test_auth.py\n1 failed, 8 passed",
)
FIRST = Attempt(
    number=1,
    checkpoint=4,
    prompt="reject locked users",
    model="kimi-k2",
    thinking="high",
    state="finished",
    duration_s=83.0,
    cost_usd=0.42,
    last_message="Locked users are rejected.\nType /attempts --adopt 9.",
    check="pytest -q",
    verdict="fail",
    check_output="1 failed, 8 passed",
    files=1,
    added=1,
    removed=1,
)
SECOND = Attempt(number=2, checkpoint=4, prompt="again", model="", thinking="off", state="running")


async def test_a_check_that_begins_to_fail_is_reported_with_its_output(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(replace(FAILED, verdict="pass", change="", output=""), FAILED)
        await driver.wait_until(lambda: "1 failed, 8 passed" in driver.lines.text)
        text = driver.lines.text
        assert text.count("pytest -q") == 1  # the first result changes nothing
        assert "EditFile src/auth.py" in text
        assert "✔ → ✗ “pytest -q” has failed since step 12." in text
        driver.engine.send(replace(FAILED, checkpoint=14, verdict="pass", change="passes_again", output=""))
        await driver.wait_until(lambda: driver.lines.text.count("pytest -q") == 2)
        assert "✗ → ✔ “pytest -q” passes since step 14." in driver.lines.text


@pytest.mark.parametrize(("language", "word"), [("en", "finished"), ("zh", "已完成")])
async def test_attempts_are_reported_when_their_state_changes(
    open_linear_app: Any, language: str, word: str
) -> None:
    set_language(language)
    try:
        async with open_linear_app() as driver:
            await driver.wait_for_prompt()
            waiting = replace(FIRST, state="running", verdict=None)
            driver.engine.send(
                AttemptList((waiting, SECOND)), AttemptList((replace(waiting, steps=2), SECOND))
            )
            driver.engine.send(AttemptList((FIRST, SECOND)))
            await driver.wait_until(lambda: word in driver.lines.text)
            shown = driver.lines.text.splitlines()
            changes = [line for line in shown if "Attempt" in line or "尝试" in line]
            assert len(changes) == 2  # the second list changes no state
            driver.engine.send(AttemptList((replace(FIRST, is_adopted=True), SECOND)))
            driver.engine.send(AttemptList((FIRST, SECOND)))
            await driver.wait_until(lambda: driver.lines.text.count(word) == 2)  # its adoption was undone
    finally:
        set_language("en")


async def test_attempts_are_listed_and_shown_on_request(open_linear_app: Any) -> None:
    session = replace(SESSION, slash_commands=(SlashCommandInfo("attempts", "Try again"),))
    async with open_linear_app(session=session) as driver:
        await driver.wait_for_prompt()
        driver.lines.type("/attempts", "/attempts --show 1", "/attempts --adopt 1 --files 1=src/auth.py")
        await driver.wait_until(lambda: len(driver.commands_of(RunSlash)) == 3)
        lines = [command.line for command in driver.commands_of(RunSlash)]
        assert lines == [
            "attempts",
            "attempts --show 1",
            "attempts --adopt 1 --files 1=src/auth.py --dry-run",
        ]
        diff = DiffBlock("src/auth.py", "    return True\n", "    return not user.locked\n")
        driver.engine.send(
            AttemptList((FIRST, SECOND), is_requested=True),
            AttemptChanges(FIRST, (ComparedFile("src/auth.py", "changed", 1, 1, diff),)),
        )
        await driver.wait_until(lambda: "adopt its changes" in driver.lines.text)
        text = driver.lines.text
        assert "1 attempt is running." in text
        assert "1  kimi-k2 · high" in text
        assert "finished · ✗ fails · $0.42 · 1 min 23 s · 1 file +1 −1" in text
        assert "2  same model" in text
        assert "Check pytest -q: ✗ fails" in text
        assert "1 failed, 8 passed" in text
        assert "return not user.locked" in text
        assert "Type /attempts --adopt 9." in text
        assert "/attempts --adopt 1: adopt its changes" in text


async def test_long_diffs_continue_file_by_file(open_linear_app: Any) -> None:
    new = "".join(f"line {number}\n" for number in range(300))
    file = ComparedFile("src/auth.py", "added", 300, 0, DiffBlock("src/auth.py", "", new))
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(AttemptChanges(FIRST, (file,)))
        await driver.wait_until(lambda: "/attempts --adopt 1" in driver.lines.text)
        assert "… 102 more lines" in driver.lines.text
        assert "/attempts --show 1 --file FILE: the whole diff of one file" in driver.lines.text
        assert "line 299" not in driver.lines.text
        driver.engine.send(AttemptChanges(FIRST, (file,), "src/auth.py"))
        await driver.wait_until(lambda: "line 299" in driver.lines.text)


async def test_without_attempts_the_command_to_start_some_is_shown(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(AttemptList(is_requested=True))
        await driver.wait_until(lambda: "Start some with /attempts --model A,B." in driver.lines.text)
