"""Bisect through the engine: steps, skips, results and the untouched working directory."""

import os
from pathlib import Path

import pytest

from kimi_tui.frontend.text.bisect import result_text
from kimi_tui.wire.bisect import Bisect, BisectProgress, BisectResult, SendBisectResult, StopBisect
from kimi_tui.wire.commands import Revert, RunSlash
from kimi_tui.wire.events import CheckpointCreated, Notification, TurnBegin, TurnEnd
from kimi_tui.wire.timeline import Reverted
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls
from tests.workspaces.workspace_env import read_tree

WRITES_GOOD = tool_calls(("WriteFile", {"path": "a.txt", "content": "good\n"}))
WRITES_OTHER = tool_calls(("Bash", {"command": "mkdir -p lib; echo other > lib/other.txt"}))
WRITES_BAD = tool_calls(("WriteFile", {"path": "a.txt", "content": "bad\n"}))
REMOVES = tool_calls(("Bash", {"command": "rm -r lib; echo more > more.txt"}))
TURNS = (
    WRITES_GOOD, text_reply("done"),
    WRITES_OTHER, WRITES_BAD, REMOVES, text_reply("done"),
)  # fmt: skip


async def run_two_turns(client: EngineClient) -> dict[str, int]:
    """Run the turns. Return the checkpoints of the steps by what they do."""
    await client.ask("write a file")
    await client.ask("change it")
    ids = [event.id for event in client.all(CheckpointCreated)]
    return dict(zip(("turn 1", "good", "done", "turn 2", "other", "bad", "removes", "end"), ids, strict=True))


async def test_the_step_that_made_the_command_fail_is_found(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "mine.txt").write_text("mine\n")
    async with session(work_dir, data_dir, *TURNS) as client:
        steps = await run_two_turns(client)
        before = read_tree(work_dir, times=True)
        found = await client.run_command(Bisect("test -e mine.txt && ! grep -q bad a.txt"), BisectResult)
        assert read_tree(work_dir, times=True) == before
        runs = client.all(BisectProgress)
    assert (found.outcome, found.prompt) == ("pass_to_fail", "change it")
    assert found.step is not None
    assert (found.step.id, found.until) == (steps["bad"], steps["removes"])
    assert found.step.label == "WriteFile a.txt"
    assert [(file.path, file.added, file.removed) for file in found.files] == [("a.txt", 1, 1)]
    assert found.runs == len(runs) <= runs[0].max_runs == 4  # 8 checkpoints
    assert runs[0].checkpoint is None


async def test_a_step_that_made_the_command_pass_is_found(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        steps = await run_two_turns(client)
        found = await client.run_command(RunSlash("bisect test -e more.txt"), BisectResult)
    assert (found.outcome, found.step and found.step.id) == ("fail_to_pass", steps["removes"])
    assert {file.path for file in found.files} == {"lib/", "lib/other.txt", "more.txt"}


async def test_a_long_diff_is_cut_and_a_change_of_a_long_file_is_shown(
    work_dir: Path, data_dir: Path
) -> None:
    (work_dir / "a_long.txt").write_text(
        "".join(f"line {number} of a long file\n" for number in range(20_000))
    )
    many = "for n in $(seq 500); do seq 30 > many$n.txt; done; sed -i '7777s/.*/bad/' a_long.txt"
    scripts = (tool_calls(("Bash", {"command": many})), text_reply("done"), text_reply("looking"))
    async with session(work_dir, data_dir, *scripts) as client:
        await client.ask("write many files")
        found = await client.run_command(Bisect("! grep -q bad a_long.txt"), BisectResult)
        await client.run_command(SendBisectResult(), TurnEnd)
        prompt = str(client.all(TurnBegin)[-1].user_input)
    assert [line for line in found.diff.splitlines() if "bad" in line or "7776 " in line] == [
        "-line 7776 of a long file",
        "+bad",
    ]
    assert found.has_more_diff
    assert all(file.diff is None for file in found.files)
    _, body = result_text(found)
    assert len(body.splitlines()) <= 50
    assert "   line 7775 of a long file" in body.splitlines()
    assert "  … 501 files changed, +15001 −1" in body.splitlines()
    assert len(prompt.splitlines()) <= 420
    assert "the changes of 501 file(s)" in prompt


async def test_exit_code_125_skips_a_checkpoint(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        steps = await run_two_turns(client)
        command = "test -e lib/other.txt && exit 125; test ! -e more.txt"
        found = await client.run_command(Bisect(command), BisectResult)
    assert (found.outcome, found.step and found.step.id) == ("pass_to_fail", steps["other"])
    assert found.suspects == (steps["other"], steps["bad"], steps["removes"])


async def test_a_command_that_fails_everywhere_shows_its_output(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        await run_two_turns(client)
        found = await client.run_command(Bisect("echo no such test; exit 3"), BisectResult)
    assert (found.outcome, found.output) == ("always_fails", "no such test")


async def test_the_command_changes_nothing_in_the_working_directory(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        await run_two_turns(client)
        before = read_tree(work_dir, times=True)
        await client.run_command(Bisect("rm -rf *; touch new; false"), BisectResult)
        assert read_tree(work_dir, times=True) == before


async def test_the_result_is_sent_to_the_model_and_the_step_reverted(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS, text_reply("I see")) as client:
        await run_two_turns(client)
        found = await client.run_command(Bisect("! grep bad a.txt"), BisectResult)
        client.events.clear()
        begin = await client.run_command(SendBisectResult(), TurnBegin)
        text = str(begin.user_input)
        assert "`! grep bad a.txt`" in text
        assert "-good\n+bad" in text
        assert found.step is not None
        await client.next(TurnEnd)
        await client.run_command(Revert(found.step.id, "turn"), Reverted)
    assert (work_dir / "a.txt").read_text() == "good\n"
    assert (work_dir / "more.txt").exists()


async def test_a_search_is_stopped_together_with_its_command(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    async with session(work_dir, data_dir, *TURNS) as client:
        await run_two_turns(client)
        client.command(Bisect(f"cat {pipe}"))
        second = await client.run_command(Bisect("true"), Notification)
        assert second.title == "A search is already running."
        stopped = await client.run_command(StopBisect(), BisectResult)
    assert stopped.outcome == "stopped"


async def test_a_session_closes_while_a_search_runs(work_dir: Path, data_dir: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    async with session(work_dir, data_dir, *TURNS) as client:
        await run_two_turns(client)
        await client.run_command(Bisect(f"test -p {pipe} && echo 1; exit 1"), BisectProgress)
        client.command(Bisect(f"cat {pipe}"))


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("bisect", "/bisect requires a command."),
        ("bisect --stop", "No search is running."),
        ("bisect --send", "No result to send."),
    ],
)
async def test_what_is_missing_is_reported(work_dir: Path, data_dir: Path, line: str, title: str) -> None:
    async with session(work_dir, data_dir) as client:
        notice = await client.run_command(RunSlash(line), Notification)
    assert notice.title == title
