"""Attempts through the engine: their workspaces, changes, checks and adoption."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pydantic
import pytest

import kimi_tui
from kimi_tui.config.settings import WorkspaceSettings
from kimi_tui.engine.attempts.attempt_process import AttemptFolder
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.attempts import (
    AdoptAttempts,
    AttemptChanges,
    AttemptFiles,
    AttemptList,
    AttemptOptions,
    DiscardAttempts,
    ListAttempts,
    PlanAdoption,
    ReadAttempt,
    StartAttempts,
    StopAttempts,
)
from kimi_tui.wire.commands import Redo, Revert, RunSlash, ShowTimeline, Undo
from kimi_tui.wire.events import Notification
from kimi_tui.wire.timeline import Reverted, RevertPlan, Timeline
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls
from tests.workspaces.workspace_env import read_tree

ONE = tool_calls(("WriteFile", {"path": "new.txt", "content": "new\n"}))
TURN = (ONE, text_reply("done"))


def rewrite(data_dir: Path, *scripts: str) -> None:
    """Let attempts play other scripts: each reads the file again."""
    (data_dir / "scripts.json").write_text(json.dumps(scripts))


async def run_attempts(client: EngineClient, command: StartAttempts) -> AttemptList:
    """Start attempts and return the list when all have ended."""
    client.events.clear()
    await client.command_and_wait(command)
    ended = client.all(AttemptList)[-1]
    assert not any(attempt.is_active for attempt in ended.attempts), ended
    return ended


async def test_attempts_change_only_their_workspaces(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "mine.txt").write_text("mine\n")
    async with session(work_dir, data_dir, *TURN) as client:
        await client.ask("write a file")
        (work_dir / "new.txt").write_text("changed by hand\n")
        before = read_tree(work_dir, times=True)
        options = (AttemptOptions(), AttemptOptions(prompt="write it again"))
        ended = await run_attempts(client, StartAttempts(attempts=options, check="grep -q new new.txt"))
        assert read_tree(work_dir, times=True) == before
        first, second = ended.attempts
        assert (first.state, first.problem, first.verdict) == ("finished", "", "pass")
        assert (first.prompt, second.prompt) == ("write a file", "write it again")
        assert (first.last_message, first.files, first.added, first.steps) == ("done", 1, 1, 2)
        result = await client.run_command(ReadAttempt(2), AttemptChanges)
    assert [(file.path, file.change) for file in result.files] == [("new.txt", "added")]
    assert result.files[0].diff is not None
    assert result.files[0].diff.new_text == "new\n"


@pytest.mark.parametrize("backend", ["auto", "none"])
async def test_files_that_an_attempt_left_as_they_were_then_are_not_its_changes(
    work_dir: Path, data_dir: Path, backend: Literal["auto", "none"]
) -> None:
    def write(text: str) -> str:
        return tool_calls(
            ("WriteFile", {"path": "kept.txt", "content": text}),
            ("WriteFile", {"path": "reset.txt", "content": text}),
        )

    workspaces = WorkspaceSettings(backend=backend)
    turns = (write("then\n"), text_reply("ok"), write("now\n"), text_reply("ok"))
    async with session(work_dir, data_dir, *turns, workspaces=workspaces) as client:
        await client.ask("write files")
        await client.ask("write them again")
        (work_dir / "reset.txt").write_text("mine\n")
        reset = tool_calls(("WriteFile", {"path": "reset.txt", "content": "now\n"}))
        rewrite(data_dir, reset, text_reply("ok"))
        ended = await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        assert ended.attempts[0].is_copy == (backend == "none")
        assert (work_dir / "reset.txt").read_text() == "mine\n"
        result = await client.run_command(ReadAttempt(1), AttemptChanges)
    assert [(file.path, file.change) for file in result.files] == [("reset.txt", "changed")]


async def test_each_file_of_a_large_attempt_has_a_diff(work_dir: Path, data_dir: Path) -> None:
    many = tool_calls(("Bash", {"command": "for n in $(seq 1000 1150); do echo $n > $n.txt; done"}))
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        rewrite(data_dir, many, text_reply("ok"))
        await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        result = await client.run_command(ReadAttempt(1), AttemptChanges)
        missing = [file.path for file in result.files if file.is_on_request]
        assert missing == [f"{number}.txt" for number in range(1100, 1151)]
        client.events.clear()
        line = RunSlash(f"attempts --show 1 --file {missing[-1]}")
        result = await client.run_command(line, AttemptChanges)
        assert [file.diff and file.diff.new_text for file in result.files] == ["1150\n"]
        error = await client.run_command(ReadAttempt(1, "other.txt"), Notification)
        assert "didn't change other.txt" in error.title


async def adopt(client: EngineClient, *numbers: int) -> Reverted:
    client.events.clear()
    await client.command_and_wait(AdoptAttempts(numbers))
    return client.all(Reverted)[-1]


async def test_an_adopted_attempt_is_merged_with_later_edits_and_undone(
    work_dir: Path, data_dir: Path
) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    (work_dir / "a.txt").write_text("".join(lines))
    edit = tool_calls(("Bash", {"command": "sed -i '3s/.*/attempt/' a.txt; echo x > b.txt; rm c.txt"}))
    (work_dir / "c.txt").write_text("c\n")
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        rewrite(data_dir, edit, text_reply("ok"))
        await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        (work_dir / "a.txt").write_text("".join([*lines[:15], "mine\n", *lines[16:]]))
        plan = await client.run_command(PlanAdoption((1,)), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {
            "a.txt": "merge",
            "b.txt": "recreate",
            "c.txt": "delete",
        }
        before = read_tree(work_dir)
        reverted = await adopt(client, 1)
        assert (reverted.reason, set(reverted.files)) == ("adopt", {"a.txt", "b.txt", "c.txt"})
        text = (work_dir / "a.txt").read_text().splitlines()
        assert (text[2], text[15], len(text)) == ("attempt", "mine", 20)
        assert (work_dir / "b.txt").read_text() == "x\n"
        assert not (work_dir / "c.txt").exists()
        assert client.all(AttemptList)[-1].attempts[0].is_adopted
        await client.command_and_wait(Undo())
        assert read_tree(work_dir) == before


@pytest.fixture
async def adopted(work_dir: Path, data_dir: Path) -> AsyncIterator[EngineClient]:
    """A session whose first attempt is adopted, and then its second one."""
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        for name in ("a", "b"):
            rewrite(data_dir, tool_calls(("Bash", {"command": f"echo x > {name}"})), text_reply("ok"))
            await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        await adopt(client, 1)
        await adopt(client, 2)
        yield client


def shown_adopted(client: EngineClient) -> list[int]:
    """Return the attempts that the newest list shows as adopted."""
    return [attempt.number for attempt in client.all(AttemptList)[-1].attempts if attempt.is_adopted]


async def test_undo_and_redo_change_which_attempts_are_adopted(adopted: EngineClient) -> None:
    assert shown_adopted(adopted) == [1, 2]
    for command, expected in ((Undo(), [1]), (Undo(), []), (Redo(), [1]), (Redo(), [1, 2])):
        await adopted.command_and_wait(command)
        assert shown_adopted(adopted) == expected
        requested = await adopted.run_command(ListAttempts(), AttemptList)
        assert requested.attempts == adopted.all(AttemptList)[-1].attempts


async def test_reverting_to_before_an_adoption_also_undoes_it(adopted: EngineClient) -> None:
    tree = await adopted.run_command(ShowTimeline(), Timeline)
    second = next(node.id for node in tree.nodes if node.label == "before adopting attempt 2")
    await adopted.command_and_wait(Revert(second, "files"))
    assert shown_adopted(adopted) == [1]
    await adopted.command_and_wait(Undo())
    assert shown_adopted(adopted) == [1, 2]
    await adopted.command_and_wait(Revert(second, "conversation"))
    assert shown_adopted(adopted) == [1, 2]


async def test_a_new_attempt_with_the_number_of_a_discarded_one_is_not_adopted(
    adopted: EngineClient,
) -> None:
    await adopted.command_and_wait(DiscardAttempts())
    await run_attempts(adopted, StartAttempts(attempts=(AttemptOptions(),)))
    assert shown_adopted(adopted) == []
    for command in (Undo(), Redo()):
        await adopted.command_and_wait(command)
        assert shown_adopted(adopted) == []


async def test_lines_that_the_user_changed_too_are_a_conflict(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "a.txt").write_text("one\n")
    edit = tool_calls(("Bash", {"command": "echo attempt > a.txt"}))
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        rewrite(data_dir, edit, text_reply("ok"))
        await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        (work_dir / "a.txt").write_text("mine\n")
        plan = await client.run_command(PlanAdoption((1,)), RevertPlan)
        assert [(file.action, file.ticked) for file in plan.files] == [("conflict", False)]
        assert {choice.choice for choice in plan.files[0].choices} == {"mine", "checkpoint", "both"}
        await client.command_and_wait(AdoptAttempts((1,)))
        assert (work_dir / "a.txt").read_text() == "mine\n"
        assert shown_adopted(client) == []


async def test_attempts_that_change_the_same_lines_conflict(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "a.txt").write_text("one\n")
    (work_dir / "b.txt").write_text("".join(f"{number}\n" for number in range(9)))
    first = tool_calls(("Bash", {"command": "echo first > a.txt; sed -i 1s/0/first/ b.txt"}))
    second = tool_calls(("Bash", {"command": "echo second > a.txt; sed -i 9s/8/second/ b.txt; echo c > c"}))
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        for each in (first, second):
            rewrite(data_dir, each, text_reply("ok"))
            await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        plan = await client.run_command(PlanAdoption((1, 2)), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {
            "a.txt": "conflict",
            "b.txt": "restore",
            "c": "recreate",
        }
        assert "attempt 1 and attempt 2 changed the same lines" in plan.files[0].note
        await adopt(client, 1, 2)
    assert (work_dir / "a.txt").read_text() == "one\n"
    assert (work_dir / "b.txt").read_text().split() == ["first", *"1234567", "second"]


async def test_a_conflict_is_shown_even_if_one_of_the_versions_is_the_current_one(
    work_dir: Path, data_dir: Path
) -> None:
    (work_dir / "a.txt").write_text("one\n")
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        for text in ("first", "second"):
            rewrite(data_dir, tool_calls(("Bash", {"command": f"echo {text} > a.txt"})), text_reply("ok"))
            await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        (work_dir / "a.txt").write_text("first\n")
        plan = await client.run_command(PlanAdoption((1, 2)), RevertPlan)
    (file,) = plan.files
    assert file.action == "conflict"
    assert "attempt 1 and attempt 2 changed the same lines" in file.note
    assert file.diff is not None
    assert file.diff.new_text == "second\n"


async def test_files_of_two_attempts_are_adopted_as_one_checkpoint(work_dir: Path, data_dir: Path) -> None:
    for name in "ab":
        (work_dir / f"{name}.txt").write_text("old\n")
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        for text in ("first", "second"):
            command = f"echo {text} | tee a.txt > b.txt"
            rewrite(data_dir, tool_calls(("Bash", {"command": command})), text_reply("ok"))
            await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        files = (AttemptFiles(1, ("a.txt",)), AttemptFiles(2, ("b.txt",)))
        plan = await client.run_command(PlanAdoption((1, 2), files), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {"a.txt": "restore", "b.txt": "restore"}
        client.command(RunSlash("attempts --adopt 1,2 --files 1=a.txt --files 2=b.txt"))
        await client.next(Reverted)
        assert [(work_dir / f"{name}.txt").read_text() for name in "ab"] == ["first\n", "second\n"]
        await client.command_and_wait(Undo())
        assert [(work_dir / f"{name}.txt").read_text() for name in "ab"] == ["old\n", "old\n"]
        client.command(RunSlash("attempts --adopt 1 --files 1=c.txt"))
        notice = await client.next(Notification)
        assert "Attempt 1 didn't change c.txt." in notice.title
        assert [(work_dir / f"{name}.txt").read_text() for name in "ab"] == ["old\n", "old\n"]


async def test_an_attempt_starts_from_an_earlier_checkpoint(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "a.txt").write_text("start\n")
    async with session(
        work_dir,
        data_dir,
        tool_calls(("Bash", {"command": "echo end > a.txt; echo b > b.txt"})),
        text_reply("ok"),
    ) as client:
        await client.ask("change it")
        rewrite(
            data_dir, tool_calls(("Bash", {"command": "cp a.txt seen.txt; ls > names.txt"})), text_reply("ok")
        )
        await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        result = await client.run_command(ReadAttempt(1), AttemptChanges)
    texts = {file.path: file.diff.new_text for file in result.files if file.diff is not None}
    assert texts["seen.txt"] == "start\n"
    assert "b.txt" not in texts["names.txt"]


async def test_attempts_are_stopped_and_discarded(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        rewrite(data_dir, "delay: 100\n" + text_reply("late"))
        client.events.clear()
        client.command(StartAttempts(attempts=(AttemptOptions(), AttemptOptions())))
        await client.next(AttemptList)
        await client.command_and_wait(RunSlash("attempts --stop 2"))
        await client.command_and_wait(StopAttempts())
        listed = await client.run_command(ListAttempts(), AttemptList)
        assert [attempt.state for attempt in client.all(AttemptList)[-1].attempts] == ["stopped", "stopped"]
        client.events.clear()
        listed = await client.run_command(DiscardAttempts(), AttemptList)
        assert listed.attempts == ()
    assert not list(data_dir.glob("tui-sessions/*/*/attempts"))


async def test_results_are_kept_for_the_next_run(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURN) as client:
        await client.ask("write a file")
        await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
    (work_dir / "new.txt").unlink()
    async with session(work_dir, data_dir, continue_last=True) as client:
        listed = await client.next(AttemptList)
        assert [attempt.state for attempt in listed.attempts] == ["finished"]
        await adopt(client, 1)
    assert (work_dir / "new.txt").read_text() == "new\n"


async def test_attempts_of_a_closed_session_are_stopped(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        rewrite(data_dir, "delay: 100\n" + text_reply("late"))
        client.command(StartAttempts(attempts=(AttemptOptions(),)))
        await client.next(AttemptList)
    async with session(work_dir, data_dir, continue_last=True) as client:
        listed = await client.next(AttemptList)
        assert [attempt.state for attempt in listed.attempts] == ["stopped"]


async def test_what_a_killed_process_left_is_removed(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURN) as client:
        await client.ask("write a file")
        await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
    (folder,) = data_dir.glob("tui-sessions/*/*/attempts")
    record = json.loads((folder / "1.json").read_text())
    record["attempt"]["state"] = "running"
    (folder / "1.json").write_text(json.dumps(record))
    (folder / "run-1").mkdir()
    (folder / "run-1" / "config.json").write_text("{}")
    async with session(work_dir, data_dir, continue_last=True) as client:
        listed = await client.next(AttemptList)
        assert [attempt.state for attempt in listed.attempts] == ["stopped"]
        assert not (folder / "run-1").exists()


async def test_a_hostile_attempt_changes_nothing_outside(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (work_dir / "a.txt").write_text("mine\n")
    (work_dir / "link").symlink_to(outside)
    hostile = (
        f"rm -rf {outside}/*; echo evil > {outside}/new; echo evil > link/new; "
        f"echo evil > {work_dir}/a.txt; "
        f"for pid in 1 $PPID $(ls /proc | grep '^[0-9]'); do echo evil > /proc/$pid/root{work_dir}/a.txt; "
        f"echo evil > /proc/$pid/cwd/../outside/new; done; umount -l {work_dir}; "
        f"echo evil > {work_dir}/a.txt; "
        f"ln -sf {outside} way; echo evil > way/new; mkdir sub; mount --bind {tmp_path} sub; "
        "echo evil > sub/outside/new; true"
    )
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        rewrite(data_dir, tool_calls(("Bash", {"command": hostile})), text_reply("ok"))
        before = read_tree(tmp_path / "work"), read_tree(outside)
        ended = await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
        assert (read_tree(tmp_path / "work"), read_tree(outside)) == before
    assert ended.attempts[0].state == "finished"
    if not ended.attempts[0].is_bounded:
        pytest.skip("bubblewrap can't limit commands here")


async def test_attempts_of_a_session_without_a_model_use_the_demo_too(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, is_configured=False) as client:
        await client.ask("write notes.txt: one")
        ended = await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
    (attempt,) = ended.attempts
    assert (attempt.state, attempt.problem, attempt.files) == ("finished", "", 1)


async def test_an_unknown_model_is_reported(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        client.events.clear()
        notice = await client.run_command(RunSlash("attempts --model nothing"), Notification)
    assert "nothing" in notice.title


def test_an_attempt_can_read_the_program_wherever_it_is_installed(tmp_path: Path) -> None:
    bounds = AttemptFolder(tmp_path / "run", tmp_path / "data").bounds(PathScope(tmp_path / "work"))
    for module in (kimi_tui, pydantic, json):
        assert any(bounds.access.get(parent) == "read" for parent in Path(module.__file__ or "").parents), (
            module
        )
