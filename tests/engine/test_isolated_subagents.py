"""Sub-agents with `isolation: workspace`: what they see, and how their changes are adopted."""

import asyncio
from pathlib import Path
from typing import TypeVar

import pytest

from kimi_tui.wire.attempts import AdoptAttempts, AttemptList, ListAttempts, PlanAdoption
from kimi_tui.wire.commands import Command, Interrupt, Prompt, Revert
from kimi_tui.wire.events import Notification, ToolResult, TurnEnd
from kimi_tui.wire.timeline import Reverted, RevertPlan
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, write
from tests.engine.subagent_scripts import script_for, task_call, write_agent_files
from tests.engine.test_subagents import agent_id, nested_events, result_text
from tests.timeouts import TEST_TIMEOUT_S

E = TypeVar("E")

LINES = [f"line {number}\n" for number in range(30)]


@pytest.fixture
def agent(home: SessionEnv) -> Path:
    """Return an agent whose sub-agent `worker` has a workspace of its own."""
    path = write_agent_files(home)
    worker = path.parent / "worker" / "agent.yaml"
    worker.write_text(
        "extend: ../agent.yaml\nsystem_prompt: worker.md\nisolation: workspace\n"
        "tools: [Task, WriteFile, ReadFile, EditFile, Bash, Glob, Grep, LS]\n"
    )
    return path


def outputs(front: FakeFrontEnd, call_id: str) -> dict[str, str]:
    """Return message and output of each call of a sub-agent."""
    results = [it for it in nested_events(front, call_id) if isinstance(it, ToolResult)]
    return {it.tool_call_id: f"{it.return_value.message}\n{it.return_value.output}" for it in results}


def edit(call_id: str, number: int, text: str) -> str:
    """Return a script line that replaces a line of a.txt."""
    old = f"{LINES[number - 1]}{LINES[number]}"
    return call(call_id, "EditFile", path="a.txt", edit={"old": old, "new": f"{LINES[number - 1]}{text}\n"})


async def test_its_changes_are_in_the_working_directory_only_when_it_ends(
    home: SessionEnv, agent: Path
) -> None:
    (home.work_dir / "a.txt").write_text("".join(LINES))
    (home.work_dir / "sub").mkdir()
    (home.work_dir / "sub" / "old.py").write_text("old = 1\n")
    outside = home.path / "seen"
    look = f"cat {home.work_dir}/a.txt | head -6 | tail -1; cat new.py; cat sub/other.py"
    home.script(
        script_for(
            "errand",
            edit("c1", 5, "five"),
            write("c2", "new.py", "new = 1\n"),
            bash("c3", "echo 'other = 1' > sub/other.py; rm sub/old.py"),
        ),
        script_for(
            "errand",
            bash("d1", look),
            call("d2", "ReadFile", path="sub/other.py"),
            call("d3", "Glob", pattern="**/*.py"),
            call("d4", "Grep", pattern="other", output_mode="content"),
            call("d5", "LS", path="sub"),
            call("d6", "ReadFile", path=str(home.work_dir / "new.py")),
            bash("d7", f"touch {outside}; until test -e {outside}.read; do sleep 0.01; done"),
        ),
        script_for("errand", "text: changed"),
        script_for("watch", bash("b1", _look_at(outside))),
        script_for("watch", "text: watched"),
        script_for("begin", task_call("t1", "errand"), task_call("t2", "watch")),
        script_for("begin", "text: ok"),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        assert (await front.turn("begin")).outcome == "finished"
        seen = outputs(front, "t1")
        watched = outputs(front, "t2")["b1"]
        assert "line 5\nnone" in watched
    assert "five\nnew = 1\nother = 1" in seen["d1"]
    assert "other = 1" in seen["d2"]
    assert "new.py" in seen["d3"]
    assert "sub/other.py" in seen["d3"]
    assert "old.py" not in seen["d3"]
    assert "proc" not in seen["d3"] + seen["d4"] + seen["d5"]
    assert "sub/other.py" in seen["d4"]
    assert "other.py" in seen["d5"]
    assert "new = 1" in seen["d6"]
    assert "changed no file" in result_text(front, "t2")
    text = result_text(front, "t1")
    assert "Adopted into the working directory: a.txt, new.py, sub/old.py, sub/other.py." in text
    assert (home.work_dir / "a.txt").read_text() == "".join([*LINES[:5], "five\n", *LINES[6:]])
    assert (home.work_dir / "new.py").read_text() == "new = 1\n"
    assert (home.work_dir / "sub" / "other.py").read_text() == "other = 1\n"
    assert not (home.work_dir / "sub" / "old.py").exists()
    assert not list(home.session_dir.glob("attempts/*"))


def _look_at(outside: Path) -> str:
    wait = f"until test -e {outside}; do sleep 0.01; done"
    return f"{wait}; sed -n 6p a.txt; test -e new.py || echo none; touch {outside}.read"


async def test_subagents_that_change_the_same_lines_conflict_and_no_line_is_lost(
    home: SessionEnv, agent: Path
) -> None:
    (home.work_dir / "a.txt").write_text("".join(LINES))
    ready = home.path / "ready"
    wait = f"touch {ready}.$N; until test -e {ready}.1 -a -e {ready}.2; do sleep 0.01; done"
    home.script(
        *(
            script_for(
                f"job {n}",
                edit(f"e{n}", 5, f"same line by {n}"),
                edit(f"f{n}", 10 + 10 * (n - 1), f"own line of {n}"),
                bash(f"w{n}", wait.replace("$N", str(n))),
            )
            for n in (1, 2)
        ),
        script_for("job 1", "text: one"),
        script_for("job 2", "text: two"),
        script_for("begin", task_call("t1", "job 1"), task_call("t2", "job 2")),
        script_for("begin", "text: ok"),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        assert (await front.turn("begin")).outcome == "finished"
        texts = [result_text(front, "t1"), result_text(front, "t2")]
        (lost,) = [text for text in texts if "Conflicts" in text]
        (won,) = [text for text in texts if "Conflicts" not in text]
        assert "Adopted into the working directory: a.txt." in won
        assert "a.txt (the same lines changed since the checkpoint; the sub-agent's version is in " in lost
        winner = 1 if won == texts[0] else 2
        text = (home.work_dir / "a.txt").read_text()
        assert f"same line by {winner}" in text
        assert f"own line of {winner}" in text
        version = lost.partition("version is in ")[2].partition(")")[0]
        assert f"same line by {3 - winner}" in Path(version).read_text()
        (attempt,) = front.of(AttemptList)[-1].attempts
        assert "/attempts --adopt 1" in lost
        assert attempt.prompt == f"job {3 - winner}"
        (notice,) = [each for each in front.of(Notification) if "attempt 1" in each.title]
        assert "a.txt" in notice.body
        plan = await _request(front, PlanAdoption((1,)), RevertPlan)
    assert [(file.path, file.action) for file in plan.files] == [("a.txt", "conflict")]


async def _request(front: FakeFrontEnd, command: Command, kind: type[E]) -> E:
    front.send(command)
    return await front.wait_for(kind)


class _PausedSubagent:
    """A script line that waits in the middle of a sub-agent's work."""

    def __init__(self, home: SessionEnv) -> None:
        self._file = home.path / "pause"

    def line(self, call_id: str) -> str:
        file = self._file
        return bash(call_id, f"touch {file}; while test -e {file}; do sleep 0.01; done")

    async def reached(self) -> None:
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not self._file.exists():
                await asyncio.sleep(0.01)

    def end(self) -> None:
        self._file.unlink()


async def test_edits_by_the_user_in_the_meantime_are_merged_or_a_conflict(
    home: SessionEnv, agent: Path
) -> None:
    (home.work_dir / "a.txt").write_text("".join(LINES))
    (home.work_dir / "b.txt").write_text("b\n")
    (home.work_dir / "c.txt").write_text("c\n")
    pause = _PausedSubagent(home)
    home.script(
        script_for(
            "errand",
            edit("c1", 5, "five"),
            write("c2", "b.txt", "agent\n"),
            bash("c3", "echo agent >> c.txt; echo d > d.txt"),
            pause.line("c4"),
            bash("c5", "echo more >> d.txt"),
        ),
        script_for("errand", "text: changed"),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: ok"),
        script_for("again", "text: hi"),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        front.send(Prompt("begin"))
        await pause.reached()
        assert not (home.work_dir / "d.txt").exists()
        (home.work_dir / "a.txt").write_text("".join([*LINES[:20], "mine\n", *LINES[21:]]))
        (home.work_dir / "b.txt").write_text("mine\n")
        (home.work_dir / "c.txt").unlink()
        pause.end()
        await front.wait_for(TurnEnd)
        text = result_text(front, "t1")
        assert "Adopted into the working directory: a.txt, d.txt." in text
        assert "b.txt (" in text
        assert "c.txt (" in text
        expected = [*LINES[:5], "five\n", *LINES[6:20], "mine\n", *LINES[21:]]
        assert (home.work_dir / "a.txt").read_text() == "".join(expected)
        assert (home.work_dir / "b.txt").read_text() == "mine\n"
        assert not (home.work_dir / "c.txt").exists()
        assert (home.work_dir / "d.txt").read_text() == "d\nmore\n"
        # its changes are the agent's: a revert undoes them, and keeps the user's
        await _request(front, Revert(0, scope="files"), Reverted)
        assert (home.work_dir / "a.txt").read_text() == "".join([*LINES[:20], "mine\n", *LINES[21:]])
        assert not (home.work_dir / "d.txt").exists()


async def test_an_interrupted_subagents_changes_are_kept_as_an_attempt(home: SessionEnv, agent: Path) -> None:
    pause = _PausedSubagent(home)
    home.script(
        script_for("errand", write("c1", "new.txt", "new\n"), pause.line("c2")),
        script_for("begin", task_call("t1", "errand")),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        front.send(Prompt("begin"))
        await pause.reached()
        front.send(Interrupt())
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"
        assert not (home.work_dir / "new.txt").exists()
        attempts = front.of(AttemptList)[-1].attempts
        assert [(each.prompt, each.files) for each in attempts] == [("errand", 1)]
        await _request(front, AdoptAttempts((1,)), Reverted)
    assert (home.work_dir / "new.txt").read_text() == "new\n"


async def test_a_failed_subagents_changes_are_adopted_and_it_can_be_resumed(
    home: SessionEnv, agent: Path
) -> None:
    home.script(
        script_for("errand", write("c1", "new.txt", "new\n")),
        script_for("errand", "error: 400 no"),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: ok"),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        await front.turn("begin")
        text = result_text(front, "t1")
        assert "did not finish" in text
        assert "Adopted into the working directory: new.txt." in text
        worker = agent_id(front, "t1")
    home.script(
        script_for("errand", bash("c1", "cat new.txt; echo more >> new.txt")),
        script_for("errand", "text: more"),
        script_for("resume it", task_call("t2", "errand again", resume=worker, subagent_type="")),
        script_for("resume it", "text: ok"),
    )
    async with home.open_session(agent_file=agent, yolo=True, continue_last=True) as front:
        await front.turn("resume it")
        assert "Adopted into the working directory: new.txt." in result_text(front, "t2")
    assert (home.work_dir / "new.txt").read_text() == "new\nmore\n"


async def test_what_cannot_run_in_a_workspace_is_refused(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for(
            "errand",
            bash("c1", "docker ps"),
            call("c2", "Bash", command="sleep 1", run_in_background=True),
            call("c3", "Task", description="d", prompt="p", subagent_type="worker"),
            bash("c4", "echo kept > kept.txt; (sleep 600 >/dev/null 2>&1 &) ; wait"),
        ),
        script_for("errand", bash("d1", "cat kept.txt")),
        script_for("errand", "text: no"),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: ok"),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        await front.turn("begin")
        seen = outputs(front, "t1")
    assert "can't run in an isolated workspace: docker works through another process" in seen["c1"]
    assert "in the background of an isolated workspace" in seen["c2"]
    assert "There is no tool “Task”" in seen["c3"]
    assert "The processes that it left running are stopped." in seen["c4"]
    assert "kept" in seen["d1"]


async def test_without_private_views_it_fails_with_the_reason(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: ok"),
    )
    settings = home.settings(workspaces={"backend": "none"})
    async with home.open_session(agent_file=agent, yolo=True, settings=settings) as front:
        await front.turn("begin")
        text = result_text(front, "t1")
    assert "`isolation: workspace` can't run here: workspaces are turned off." in text


async def test_permissions_apply_in_a_workspace(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("errand", write("c1", "new.txt", "new\n"), bash("c2", "rm a.txt")),
        script_for("errand", "text: no"),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: ok"),
    )
    (home.work_dir / "a.txt").write_text("a\n")
    async with home.open_session(agent_file=agent) as front:
        front.send(Prompt("begin"))
        first, second = await front.next_approval_request(), await front.next_approval_request()
        assert {first.action, second.action} == {"edit file", "run command"}
        edits, command = (first, second) if first.action == "edit file" else (second, first)
        front.answer(command, "reject", "not that")
        front.answer(edits, "approve")
        await front.wait_for(TurnEnd)
        text = result_text(front, "t1")
    assert "Adopted into the working directory: new.txt." in text
    assert (home.work_dir / "a.txt").exists()


async def test_after_a_command_that_writes_too_much_it_continues(home: SessionEnv, agent: Path) -> None:
    endless = "while :; do head -c 8M /dev/zero >> big; sleep 0.02; done"
    home.script(
        script_for("errand", write("c1", "a.txt", "a\n"), bash("c2", endless)),
        script_for("errand", call("d1", "ReadFile", path="a.txt"), bash("d2", "rm big; echo b > b.txt; ls")),
        script_for("errand", "text: done"),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: ok"),
    )
    settings = home.settings(workspaces={"max_mb": 40})
    async with home.open_session(agent_file=agent, yolo=True, settings=settings) as front:
        await front.turn("begin")
        seen = outputs(front, "t1")
        text = result_text(front, "t1")
    assert "The command was stopped: it wrote more than 40 MB in its workspace." in seen["c2"]
    assert "a\n" in seen["d1"]
    assert "a.txt\nb.txt" in seen["d2"]
    assert "Adopted into the working directory: a.txt, b.txt." in text
    assert not (home.work_dir / "big").exists()


async def test_in_the_background_it_is_kept_as_an_attempt_if_the_session_ends_first(
    home: SessionEnv, agent: Path
) -> None:
    pause = _PausedSubagent(home)
    home.script(
        script_for("errand", write("c1", "new.txt", "new\n"), pause.line("c2")),
        script_for("begin", task_call("t1", "errand", run_in_background=True)),
        script_for("begin", "text: ok"),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        await front.turn("begin")
        await pause.reached()
    assert not (home.work_dir / "new.txt").exists()
    async with home.open_session(agent_file=agent, yolo=True, continue_last=True) as front:
        listed = await _request(front, ListAttempts(), AttemptList)
        assert [(each.prompt, each.files) for each in listed.attempts] == [("errand", 1)]
