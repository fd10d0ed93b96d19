"""Commands and sub-agents behind the conversation, over whole sessions."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.wire.background import BackgroundTask, TasksUpdate, TaskText
from kimi_tui.wire.commands import Interrupt, Prompt, ReadTask, RunSlash, StopTask
from kimi_tui.wire.events import Notification, SubagentEvent, ToolResult, TurnEnd
from tests.engine.front import Front, Home, call, script, write
from tests.engine.household import hire, part, task
from tests.patience import PATIENCE_S


@pytest.fixture
def agent(home: Home) -> Path:
    return hire(home)


def behind(call_id: str, command: str, **arguments: Any) -> str:
    return call(call_id, "Bash", command=command, run_in_background=True, **arguments)


async def task_is(front: Front, status: str, task_id: str = "bash-1") -> BackgroundTask:
    """The task, once it stands so."""

    def found(update: TasksUpdate) -> BackgroundTask | None:
        return next((it for it in update.tasks if (it.id, it.status) == (task_id, status)), None)

    for update in reversed(front.of(TasksUpdate)):
        if it := found(update):
            return it
    update = await front.until(TasksUpdate, where=lambda it: found(it) is not None)
    known = found(update)
    assert known is not None
    return known


def notes(home: Home) -> list[str]:
    """What the program told the model."""
    messages = [json.loads(line) for line in home.journal.splitlines()]
    texts = [_text(it["content"]) for it in messages if it.get("role") == "user"]
    return [text for text in texts if text.startswith("<system>")]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(it.get("text", "") for it in content)


async def test_the_turn_goes_on_and_the_model_is_told_at_its_next_step(home: Home, agent: Path) -> None:
    home.permissions = {"allow": ["Bash(echo *)"]}
    home.script(
        script(behind("c1", "echo ready")),
        script(call("c2", "TaskList", active_only=False)),
        script(write("c3", "a.txt")),
        "text: done",
    )
    async with home.opened(agent_file=agent) as front:
        front.give(Prompt("go"))
        request = await front.asked()
        ended = await task_is(front, "done")
        front.answer(request, "approve")
        assert (await front.until(TurnEnd)).outcome == "finished"
        assert "bash-1" in str(front.results["c2"].return_value.output)
        assert Path(ended.output).read_text() == "ready\n"
        (notice,) = front.of(Notification)
        assert (notice.category, notice.source_id) == ("task", "bash-1")
    (note,) = notes(home)
    assert "bash-1 (echo ready) has ended: exit code 0" in note


async def test_what_ends_between_turns_is_told_with_the_next_prompt(home: Home, agent: Path) -> None:
    home.script(
        script(behind("c1", "until test -e go; do sleep 0.01; done", description="the build")),
        "text: started",
        "text: I see",
    )
    async with home.opened(agent_file=agent, yolo=True) as front:
        await front.turn("start it")
        home.file("go").touch()
        await task_is(front, "done")
        (notice,) = front.of(Notification)
        assert "the build" in notice.title
        await front.turn("and?")
    (note,) = notes(home)
    assert "bash-1 (the build) has ended: exit code 0" in note
    assert home.journal.index("and?") < home.journal.index("has ended")


async def test_a_front_end_reads_and_stops_a_task(home: Home, agent: Path) -> None:
    home.script(script(behind("c1", "echo hello; sleep 60")), "text: started")
    async with home.opened(agent_file=agent, yolo=True) as front:
        await front.turn("start it")
        text = TaskText("", 0, "", 0)
        async with asyncio.timeout(PATIENCE_S):
            while not text.text:
                front.give(ReadTask("bash-1"))
                text = await front.until(TaskText)
        assert text == TaskText("bash-1", 0, "hello\n", 6)
        front.give(StopTask("bash-1"))
        assert (await task_is(front, "stopped")).outcome == "stopped by the user"
        front.give(StopTask("bash-9"))
        assert "no background task" in (await front.told()).title


async def test_an_interrupt_leaves_background_work_alone_and_the_end_of_the_session_does_not(
    home: Home, agent: Path
) -> None:
    home.script(
        script(behind("c1", "echo $$; exec sleep 60")), script(call("c2", "Bash", command="sleep 60"))
    )
    async with home.opened(agent_file=agent, yolo=True) as front:
        front.give(Prompt("start it"))
        started = await task_is(front, "running")
        await front.until(ToolResult)
        front.give(Interrupt())
        await front.until(TurnEnd)
        async with asyncio.timeout(PATIENCE_S):
            while not (text := Path(started.output).read_text()).endswith("\n"):
                await asyncio.sleep(0.01)
        assert not front.of(TasksUpdate)[-1].tasks[0].ended
        os.kill(int(text), 0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(text), 0)
    assert front.of(TasksUpdate)[-1].tasks[0].outcome == "stopped when kimi-tui ended"

    home.script("text: I see")
    async with home.opened(agent_file=agent, continue_last=True) as front:
        await front.turn("and now?")
    assert "stopped when kimi-tui ended" in notes(home)[-1]


async def test_a_sub_agent_works_in_the_background(home: Home, agent: Path) -> None:
    home.script(
        part("the search", "text: looking", write("c1", "found.txt")),
        part("the search", "text: It is in found.txt."),
        part("begin", task("t1", "the search", run_in_background=True)),
        part("begin", "text: meanwhile"),
        part("and?", call("t2", "TaskOutput", task_id="agent-1")),
        part("and?", "text: there"),
    )
    async with home.opened(agent_file=agent) as front:
        assert (await front.turn("begin")).outcome == "finished"
        assert "agent-1" in front.results["t1"].return_value.message
        request = await front.asked() if not front.open_requests() else front.open_requests()[0]
        assert (request.source_kind, request.source_id) == ("background_agent", "agent-1")
        assert request.source_description == "the search"
        front.answer(request, "approve")
        ended = await task_is(front, "done", "agent-1")
        assert ended.outcome == "finished"
        await front.turn("and?")
    assert not front.of(SubagentEvent)
    output = str(front.results["t2"].return_value.output)
    assert "✔ WriteFile found.txt" in output
    assert output.rstrip().endswith("It is in found.txt.")
    assert home.file("found.txt").exists()


async def test_a_sub_agent_hears_of_the_commands_that_it_started_and_of_no_others(
    home: Home, agent: Path
) -> None:
    home.permissions = {"allow": ["Bash(echo *)"]}
    home.script(
        part("errand", behind("c9", "echo its", description="its own")),
        part("errand", write("c2", "a.txt")),
        part("errand", "text: done"),
        part("begin", behind("c1", "echo mine", description="not its own")),
        part("begin", task("t1", "errand")),
        part("begin", "text: fine"),
    )
    async with home.opened(agent_file=agent) as front:
        front.give(Prompt("begin"))
        request = await front.asked()
        await task_is(front, "done", "bash-2")
        front.answer(request, "approve")
        await front.until(TurnEnd)
    (journal,) = home.session_dir.glob("subagents/*/context.jsonl")
    assert "bash-2 (its own) has ended" in journal.read_text()
    assert "not its own" not in journal.read_text()


async def test_its_request_outlives_turns_and_is_closed_when_it_is_stopped(home: Home, agent: Path) -> None:
    home.script(
        part("the search", write("c1", "found.txt")),
        part("begin", task("t1", "the search", run_in_background=True)),
        part("begin", "text: meanwhile"),
        part("more", "text: more"),
    )
    async with home.opened(agent_file=agent) as front:
        await front.turn("begin")
        while not front.open_requests():
            await asyncio.sleep(0.01)
        await front.turn("more")
        (request,) = front.open_requests()
        front.give(StopTask("agent-1"))
        ended = await task_is(front, "stopped", "agent-1")
        assert not front.open_requests()
        assert not front.answer(request, "approve")
    assert ended.agent_id is not None
    state = json.loads((home.session_dir / "subagents" / ended.agent_id / "state.json").read_text())
    assert state["status"] == "interrupted"
    assert not home.file("found.txt").exists()


async def test_one_at_work_cannot_be_given_more(home: Home, agent: Path) -> None:
    home.script(
        part("the search", write("c1", "found.txt")),
        part("begin", task("t1", "the search", run_in_background=True)),
        part("begin", "text: meanwhile"),
    )
    async with home.opened(agent_file=agent) as front:
        await front.turn("begin")
        (update,) = front.of(TasksUpdate)[:1]
        agent_id = update.tasks[0].agent_id
    home.script(
        part("the search", write("c1", "found.txt")),
        part("begin", task("t1", "the search", run_in_background=True, resume=agent_id)),
        part("begin", task("t2", "again", resume=agent_id)),
        part("begin", "text: meanwhile"),
    )
    async with home.opened(agent_file=agent, continue_last=True) as front:
        await front.turn("begin")
    assert "still at work" in front.results["t2"].return_value.message


async def test_a_background_sub_agent_that_fails_says_why(home: Home, agent: Path) -> None:
    home.script(
        part("the search", "error: 400 no credit"),
        part("begin", task("t1", "the search", run_in_background=True)),
        part("begin", "text: meanwhile"),
        part("and?", "text: oh"),
    )
    async with home.opened(agent_file=agent) as front:
        await front.turn("begin")
        assert "no credit" in (await task_is(front, "failed", "agent-1")).outcome
        assert (await front.until(Notification)).severity == "warning"
        await front.turn("and?")
    assert 'resume="a' in notes(home)[-1]


async def test_the_tasks_that_run_are_restated_after_a_compaction(home: Home, agent: Path) -> None:
    home.script(
        script(behind("c1", "sleep 60", description="the server")), "text: on", "text: on", "text: a summary"
    )
    async with home.opened(agent_file=agent, yolo=True) as front:
        await front.turn("start it")
        await front.turn("go on")
        front.give(RunSlash("compact"))
        await front.until(TurnEnd)
    assert "- bash-1 (the server)" in notes(home)[-1]
