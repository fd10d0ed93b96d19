"""Checks after steps, through the engine: results, first failures, and what a resumed session shows."""

import asyncio
import os
from pathlib import Path

from kimi_tui.config.settings import CheckSettings
from kimi_tui.wire.checks import CheckChange, CheckResult
from kimi_tui.wire.commands import ShowTimeline
from kimi_tui.wire.timeline import Timeline, TimelineNode, TimelineUpdate
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls
from tests.workspaces.workspace_env import read_tree

WRITES_GOOD = tool_calls(("WriteFile", {"path": "a.txt", "content": "good\n"}))
WRITES_BAD = tool_calls(("Bash", {"command": "echo bad > a.txt"}))
WRITES_OTHER = tool_calls(("WriteFile", {"path": "b.txt", "content": "other\n"}))
READS = tool_calls(("Bash", {"command": "cat a.txt"}))
NO_BAD = CheckSettings(run="! grep bad *.txt")


async def next_result(client: EngineClient, step: str) -> CheckResult:
    """Return the first result for the step with this label that isn't provisional."""
    while True:
        for result in client.all(CheckResult):
            if result.label == step and not result.is_provisional:
                return result
        await client.next(CheckResult)


async def next_change(client: EngineClient, change: CheckChange, step: str) -> CheckResult:
    """Return the first result that reports this change for the step with this label."""
    while True:
        for result in client.all(CheckResult):
            if (result.change, result.label) == (change, step):
                return result
        await client.next(CheckResult)


async def timeline_of(client: EngineClient) -> dict[str, TimelineNode]:
    """Return the checkpoints of the timeline by label, in their latest version."""
    timeline = await client.run_command(ShowTimeline(), Timeline)
    return {node.label: node for node in timeline.nodes}


async def test_the_first_failing_step_is_marked_and_reported(work_dir: Path, data_dir: Path) -> None:
    async with session(
        work_dir, data_dir, WRITES_GOOD, WRITES_BAD, text_reply("done"), checks=NO_BAD
    ) as client:
        await client.ask("change the files")
        failed = await next_change(client, "began_to_fail", "Bash echo bad > a.txt")
        assert (failed.verdict, failed.output) == ("fail", "bad")
        nodes = await timeline_of(client)
        check = nodes["Bash echo bad > a.txt"].check
        assert check is not None
        assert (check.state, check.is_first_failure) == ("fail", True)
        assert nodes["done"].check is None


async def test_each_step_that_waits_is_replaced_by_a_newer_one(work_dir: Path, data_dir: Path) -> None:
    scripts = [
        tool_calls(("WriteFile", {"path": f"{number}.txt", "content": "bad\n" if number >= 5 else "good\n"}))
        for number in range(9)
    ]
    pipe, checks = (
        data_dir / "pipe",
        CheckSettings(run=f"cat {data_dir / 'pipe'} >/dev/null; ! grep bad *.txt"),
    )
    data_dir.mkdir()
    os.mkfifo(pipe)
    async with session(work_dir, data_dir, *scripts, text_reply("done"), checks=checks) as client:
        await client.ask("write the files")
        writer = os.open(pipe, os.O_RDWR)  # the check that waits for it continues
        os.close(writer)
        pipe.unlink()
        pipe.touch()
        await next_result(client, "WriteFile 8.txt")
        first = await next_change(client, "began_to_fail", "WriteFile 5.txt")
        results = [result.label for result in client.all(CheckResult)]
    assert first.verdict == "fail"
    assert len(results) < 9


async def test_a_step_that_changes_nothing_is_not_checked(work_dir: Path, data_dir: Path) -> None:
    async with session(
        work_dir,
        data_dir,
        WRITES_GOOD,
        READS,
        text_reply("done"),
        WRITES_OTHER,
        text_reply("end"),
        checks=NO_BAD,
    ) as client:
        await client.ask("write and read")
        await next_result(client, "WriteFile a.txt")
        await client.ask("write more")
        await next_result(client, "WriteFile b.txt")
        nodes = await timeline_of(client)
    assert nodes["Bash cat a.txt"].check is None


async def test_a_check_that_already_failed_marks_no_step(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "mine.txt").write_text("bad\n")
    async with session(work_dir, data_dir, WRITES_GOOD, text_reply("done"), checks=NO_BAD) as client:
        await client.ask("write")
        await next_result(client, "WriteFile a.txt")
        before = await next_change(client, "failed_before", "write")
        nodes = await timeline_of(client)
    assert before.verdict == "fail"
    check = nodes["WriteFile a.txt"].check
    assert check is not None
    assert (check.state, check.is_first_failure) == ("fail", False)


async def test_a_step_that_repairs_the_check_is_reported(work_dir: Path, data_dir: Path) -> None:
    scripts = (WRITES_BAD, text_reply("done"), WRITES_GOOD, text_reply("repaired"))
    async with session(work_dir, data_dir, *scripts, checks=NO_BAD) as client:
        await client.ask("break it")
        await next_result(client, "Bash echo bad > a.txt")
        await client.ask("repair it")
        repaired = await next_change(client, "passes_again", "WriteFile a.txt")
    assert repaired.verdict == "pass"


async def test_a_resumed_session_shows_earlier_results(work_dir: Path, data_dir: Path) -> None:
    async with session(
        work_dir, data_dir, WRITES_GOOD, WRITES_BAD, text_reply("done"), checks=NO_BAD
    ) as client:
        await client.ask("change the files")
        await next_change(client, "began_to_fail", "Bash echo bad > a.txt")
    async with session(work_dir, data_dir, continue_last=True) as client:
        check = (await timeline_of(client))["Bash echo bad > a.txt"].check
    assert check is not None
    assert (check.state, check.is_first_failure, check.command) == ("fail", True, NO_BAD.run)


async def test_the_timeline_is_updated_while_a_check_runs(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, WRITES_GOOD, text_reply("done"), checks=NO_BAD) as client:
        await client.run_command(ShowTimeline(), Timeline)
        await client.ask("write")
        await next_result(client, "WriteFile a.txt")
        await client.command_and_wait(ShowTimeline())
        checks = [node.check for update in client.all(TimelineUpdate) for node in update.nodes if node.check]
    assert list(dict.fromkeys(check.state for check in checks)) == ["running", "pass"]


async def test_a_check_that_takes_too_long_fails(work_dir: Path, data_dir: Path) -> None:
    checks = CheckSettings(run="sleep 60", timeout=0.2)
    async with session(work_dir, data_dir, WRITES_GOOD, text_reply("done"), checks=checks) as client:
        await client.ask("write")
        result = await next_result(client, "WriteFile a.txt")
    assert (result.verdict, result.timed_out) == ("fail", True)


async def test_a_check_changes_nothing_in_the_working_directory(work_dir: Path, data_dir: Path) -> None:
    checks = CheckSettings(run="rm -f *; touch new")
    async with session(work_dir, data_dir, WRITES_GOOD, text_reply("done"), checks=checks) as client:
        await client.ask("write")
        before = read_tree(work_dir, times=True)
        await next_result(client, "WriteFile a.txt")
        assert read_tree(work_dir, times=True) == before


async def test_a_result_is_provisional_if_files_change_meanwhile_and_is_repeated(
    work_dir: Path, data_dir: Path
) -> None:
    began, pipe = data_dir / "began", data_dir / "pipe"
    data_dir.mkdir()
    os.mkfifo(pipe)
    checks = CheckSettings(run=f"touch {began}; cat {pipe}; true")
    async with session(work_dir, data_dir, WRITES_GOOD, text_reply("done"), checks=checks) as client:
        await client.ask("write")
        writer = await asyncio.to_thread(os.open, pipe, os.O_WRONLY)  # waits for the check
        (work_dir / "mine.txt").write_text("mine\n")
        pipe.rename(data_dir / "old")
        pipe.touch()
        os.close(writer)
        first = await client.next(CheckResult)
        second = await client.next(CheckResult)
    assert (first.is_provisional, second.is_provisional) == (True, False)
    assert first.checkpoint == second.checkpoint


async def test_no_check_runs_without_a_command(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, WRITES_GOOD, text_reply("done")) as client:
        await client.ask("write")
        assert all(node.check is None for node in (await timeline_of(client)).values())
    assert not list(data_dir.rglob("checks.jsonl"))
