"""Background commands and sub-agents in whole sessions."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.wire.background import BackgroundTask, TasksUpdate, TaskText
from kimi_tui.wire.commands import Interrupt, Prompt, ReadTask, RunSlash, StopTask
from kimi_tui.wire.events import Notification, SubagentEvent, ToolResult, TurnEnd
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, call, script, write
from tests.engine.subagent_scripts import script_for, task_call, write_agent_files
from tests.timeouts import TEST_TIMEOUT_S


@pytest.fixture
def agent(home: SessionEnv) -> Path:
    return write_agent_files(home)


def background_bash(call_id: str, command: str, **arguments: Any) -> str:
    return call(call_id, "Bash", command=command, run_in_background=True, **arguments)


async def wait_for_status(front: FakeFrontEnd, status: str, task_id: str = "bash-1") -> BackgroundTask:
    """Return the task once it has `status`."""

    def find_task(update: TasksUpdate) -> BackgroundTask | None:
        return next((it for it in update.tasks if (it.id, it.status) == (task_id, status)), None)

    for update in reversed(front.of(TasksUpdate)):
        if task := find_task(update):
            return task
    update = await front.wait_for(TasksUpdate, where=lambda it: find_task(it) is not None)
    task = find_task(update)
    assert task is not None
    return task


def notes(home: SessionEnv) -> list[str]:
    """Return the system notes that the model got."""
    messages = [json.loads(line) for line in home.journal.splitlines()]
    texts = [_text(it["content"]) for it in messages if it.get("role") == "user"]
    return [text for text in texts if text.startswith("<system>")]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(it.get("text", "") for it in content)


async def test_the_turn_continues_and_the_next_step_reports_ended_tasks(
    home: SessionEnv, agent: Path
) -> None:
    home.permissions = {"allow": ["Bash(echo *)"]}
    home.script(
        script(background_bash("c1", "echo ready")),
        script(call("c2", "TaskList", active_only=False)),
        script(write("c3", "a.txt")),
        "text: done",
    )
    async with home.open_session(agent_file=agent) as front:
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        ended = await wait_for_status(front, "done")
        front.answer(request, "approve")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert "bash-1" in str(front.results["c2"].return_value.output)
        assert Path(ended.output).read_text() == "ready\n"
        (notice,) = front.of(Notification)
        assert (notice.category, notice.source_id) == ("task", "bash-1")
    (note,) = notes(home)
    assert "bash-1 (echo ready) has ended: exit code 0" in note


async def test_a_task_that_ends_between_turns_is_reported_with_the_next_prompt(
    home: SessionEnv, agent: Path
) -> None:
    home.script(
        script(background_bash("c1", "until test -e go; do sleep 0.01; done", description="the build")),
        "text: started",
        "text: I see",
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        await front.turn("start it")
        home.file("go").touch()
        await wait_for_status(front, "done")
        (notice,) = front.of(Notification)
        assert "the build" in notice.title
        await front.turn("and?")
    (note,) = notes(home)
    assert "bash-1 (the build) has ended: exit code 0" in note
    assert home.journal.index("and?") < home.journal.index("has ended")


async def test_a_front_end_reads_and_stops_a_task(home: SessionEnv, agent: Path) -> None:
    home.script(script(background_bash("c1", "echo hello; sleep 60")), "text: started")
    async with home.open_session(agent_file=agent, yolo=True) as front:
        await front.turn("start it")
        text = TaskText("", 0, "", 0)
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not text.text:
                front.send(ReadTask("bash-1"))
                text = await front.wait_for(TaskText)
        assert text == TaskText("bash-1", 0, "hello\n", 6)
        front.send(StopTask("bash-1"))
        assert (await wait_for_status(front, "stopped")).outcome == "stopped by the user"
        front.send(StopTask("bash-9"))
        assert "“bash-9” doesn't exist" in (await front.next_notification()).title


async def test_background_tasks_survive_an_interrupt_but_not_the_end_of_the_session(
    home: SessionEnv, agent: Path
) -> None:
    home.script(
        script(background_bash("c1", "echo $$; exec sleep 60")),
        script(call("c2", "Bash", command="sleep 60")),
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        front.send(Prompt("start it"))
        started = await wait_for_status(front, "running")
        await front.wait_for(ToolResult)
        front.send(Interrupt())
        await front.wait_for(TurnEnd)
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not (text := Path(started.output).read_text()).endswith("\n"):
                await asyncio.sleep(0.01)
        assert not front.of(TasksUpdate)[-1].tasks[0].ended
        os.kill(int(text), 0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(text), 0)
    assert front.of(TasksUpdate)[-1].tasks[0].outcome == "stopped when kimi-tui exited"

    home.script("text: I see")
    async with home.open_session(agent_file=agent, continue_last=True) as front:
        await front.turn("and now?")
    assert "stopped when kimi-tui exited" in notes(home)[-1]


async def test_a_sub_agent_works_in_the_background(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("the search", "text: looking", write("c1", "found.txt")),
        script_for("the search", "text: It is in found.txt."),
        script_for("begin", task_call("t1", "the search", run_in_background=True)),
        script_for("begin", "text: started"),
        script_for("and?", call("t2", "TaskOutput", task_id="agent-1")),
        script_for("and?", "text: there"),
    )
    async with home.open_session(agent_file=agent) as front:
        assert (await front.turn("begin")).outcome == "finished"
        assert "agent-1" in front.results["t1"].return_value.message
        request = (
            await front.next_approval_request() if not front.open_requests() else front.open_requests()[0]
        )
        assert (request.source_kind, request.source_id) == ("background_agent", "agent-1")
        assert request.source_description == "the search"
        front.answer(request, "approve")
        ended = await wait_for_status(front, "done", "agent-1")
        assert ended.outcome == "finished"
        await front.turn("and?")
    assert not front.of(SubagentEvent)
    output = str(front.results["t2"].return_value.output)
    assert "✔ WriteFile found.txt" in output
    assert output.rstrip().endswith("It is in found.txt.")
    assert home.file("found.txt").exists()


async def test_a_sub_agent_is_notified_only_of_its_own_commands(home: SessionEnv, agent: Path) -> None:
    home.permissions = {"allow": ["Bash(echo *)"]}
    home.script(
        script_for("errand", background_bash("c9", "echo its", description="its own")),
        script_for("errand", write("c2", "a.txt")),
        script_for("errand", "text: done"),
        script_for("begin", background_bash("c1", "echo mine", description="not its own")),
        script_for("begin", task_call("t1", "errand")),
        script_for("begin", "text: fine"),
    )
    async with home.open_session(agent_file=agent) as front:
        front.send(Prompt("begin"))
        request = await front.next_approval_request()
        await wait_for_status(front, "done", "bash-2")
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    (journal,) = home.session_dir.glob("subagents/*/context.jsonl")
    assert "bash-2 (its own) has ended" in journal.read_text()
    assert "not its own" not in journal.read_text()


async def test_the_request_of_a_background_sub_agent_stays_open_until_it_is_stopped(
    home: SessionEnv, agent: Path
) -> None:
    home.script(
        script_for("the search", write("c1", "found.txt")),
        script_for("begin", task_call("t1", "the search", run_in_background=True)),
        script_for("begin", "text: started"),
        script_for("more", "text: more"),
    )
    async with home.open_session(agent_file=agent) as front:
        await front.turn("begin")
        while not front.open_requests():
            await asyncio.sleep(0.01)
        await front.turn("more")
        (request,) = front.open_requests()
        front.send(StopTask("agent-1"))
        ended = await wait_for_status(front, "stopped", "agent-1")
        assert not front.open_requests()
        assert not front.answer(request, "approve")
    assert ended.agent_id is not None
    state = json.loads((home.session_dir / "subagents" / ended.agent_id / "state.json").read_text())
    assert state["status"] == "interrupted"
    assert not home.file("found.txt").exists()


async def test_a_running_sub_agent_cant_be_resumed(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("the search", write("c1", "found.txt")),
        script_for("begin", task_call("t1", "the search", run_in_background=True)),
        script_for("begin", "text: started"),
    )
    async with home.open_session(agent_file=agent) as front:
        await front.turn("begin")
        (update,) = front.of(TasksUpdate)[:1]
        agent_id = update.tasks[0].agent_id
    home.script(
        script_for("the search", write("c1", "found.txt")),
        script_for("begin", task_call("t1", "the search", run_in_background=True, resume=agent_id)),
        script_for("begin", task_call("t2", "again", resume=agent_id)),
        script_for("begin", "text: started"),
    )
    async with home.open_session(agent_file=agent, continue_last=True) as front:
        await front.turn("begin")
    assert "still running" in front.results["t2"].return_value.message


async def test_the_failure_of_a_background_sub_agent_is_reported(home: SessionEnv, agent: Path) -> None:
    home.script(
        script_for("the search", "error: 400 no credit"),
        script_for("begin", task_call("t1", "the search", run_in_background=True)),
        script_for("begin", "text: started"),
        script_for("and?", "text: oh"),
    )
    async with home.open_session(agent_file=agent) as front:
        await front.turn("begin")
        assert "no credit" in (await wait_for_status(front, "failed", "agent-1")).outcome
        assert (await front.wait_for(Notification)).severity == "warning"
        await front.turn("and?")
    assert 'resume="a' in notes(home)[-1]


async def test_running_tasks_are_listed_again_after_a_compaction(home: SessionEnv, agent: Path) -> None:
    home.script(
        script(background_bash("c1", "sleep 60", description="the server")),
        "text: on",
        "text: on",
        "text: a summary",
    )
    async with home.open_session(agent_file=agent, yolo=True) as front:
        await front.turn("start it")
        await front.turn("go on")
        front.send(RunSlash("compact"))
        await front.wait_for(TurnEnd)
    assert "- bash-1 (the server)" in notes(home)[-1]


async def test_the_settings_limit_the_number_of_running_tasks(home: SessionEnv) -> None:
    home.script(
        script(background_bash("c1", "sleep 100")),
        script(background_bash("c2", "sleep 100")),
        "text: done",
    )
    settings = home.settings(background={"max_running_tasks": 1})
    async with home.open_session(settings=settings, yolo=True) as front:
        await front.turn("go")
        assert not front.results["c1"].return_value.is_error
        assert "already running" in front.results["c2"].return_value.message
