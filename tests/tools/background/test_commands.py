"""Commands in the background, and the tools that look after them."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kimi_tui.base.terminal import plain
from kimi_tui.tools.approval import CommandSubject, TaskSubject, ToolRejected
from kimi_tui.tools.background.task_list import TaskList
from kimi_tui.tools.background.task_output import LIMIT, TaskOutput
from kimi_tui.tools.background.task_stop import TaskStop
from kimi_tui.tools.shell.bash import BashParams
from kimi_tui.tools.tool import Tool
from kimi_tui.wire.background import BackgroundTask
from kimi_tui.wire.display import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn
from tests.patience import PATIENCE_S
from tests.tools.calls import running_call
from tests.tools.test_bash import Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.tasks.close()
    await desk.shell.close()


async def use(tool: Tool[Any], **arguments: object) -> ToolReturn:
    return await tool.run(tool.Params.model_validate(arguments), running_call())


async def ended(desk: Desk, task_id: str = "bash-1") -> BackgroundTask:
    task = await desk.tasks.wait(task_id, timeout_s=PATIENCE_S)
    assert task is not None
    assert task.status != "running"
    return task


async def printed(desk: Desk, text: str, task_id: str = "bash-1") -> None:
    async with asyncio.timeout(PATIENCE_S):
        while text not in (await desk.tasks.read(task_id, 0, LIMIT))[1]:
            await asyncio.sleep(0.01)


async def test_a_command_in_the_background_returns_at_once(desk: Desk) -> None:
    result = await desk.run("read -r x < fifo; echo $x", run_in_background=True, description="wait for it")
    assert not result.is_error
    assert "bash-1" in result.message
    assert BackgroundTaskBlock("bash-1", "bash", "running", "wait for it") in result.display
    assert desk.consent.asked[0][0] == "run command in the background"
    assert desk.consent.asked[0][2] == CommandSubject("read -r x < fifo; echo $x")
    assert desk.log.turns == 1


async def test_it_ends_with_its_exit_code_and_its_output_is_plain(desk: Desk) -> None:
    await desk.run(r"printf '\033[31mred\033[0m\n'; exit 3", run_in_background=True)
    task = await ended(desk)
    assert (task.status, task.outcome) == ("failed", "exit code 3")
    result = await use(TaskOutput(desk.tasks), task_id="bash-1")
    assert result.output == "red\n"
    assert "exit code 3" in result.message


async def test_its_time_out_ends_it(desk: Desk) -> None:
    await desk.run("sleep 60", run_in_background=True, timeout=1)
    task = await ended(desk)
    assert task.status == "timed_out"


async def test_only_in_the_background_it_may_take_long() -> None:
    assert BashParams.model_validate({"command": "x", "timeout": 86_400, "run_in_background": True})
    for arguments in ({"timeout": 301}, {"timeout": 86_401, "run_in_background": True}, {"timeout": 0}):
        with pytest.raises(ValidationError):
            BashParams.model_validate({"command": "x", **arguments})


async def test_stopping_ends_all_that_it_started(desk: Desk) -> None:
    await desk.run("sleep 60 & echo $!; wait", run_in_background=True)
    await printed(desk, "\n")
    child = int((await desk.tasks.read("bash-1", 0, LIMIT))[1])
    result = await use(TaskStop(desk.tasks, desk.consent), task_id="bash-1", reason="not needed")
    assert not result.is_error
    assert desk.consent.asked[-1][0] == "stop background task"
    assert "not needed" in desk.consent.asked[-1][1]
    assert desk.consent.asked[-1][2] == TaskSubject("bash-1")
    assert (await ended(desk)).status == "stopped"
    async with asyncio.timeout(PATIENCE_S):
        while _is_alive(child):
            await asyncio.sleep(0.01)


async def test_a_stop_that_is_refused_stops_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path, agrees=True)
    await desk.run("sleep 60", run_in_background=True)
    desk.consent._agrees = False
    with pytest.raises(ToolRejected):
        await use(TaskStop(desk.tasks, desk.consent), task_id="bash-1")
    assert desk.tasks.running
    await desk.tasks.close()


async def test_stopping_what_has_ended_asks_nobody(desk: Desk) -> None:
    await desk.run("true", run_in_background=True)
    await ended(desk)
    asked = len(desk.consent.asked)
    result = await use(TaskStop(desk.tasks, desk.consent), task_id="bash-1")
    assert "had ended already" in result.message
    assert len(desk.consent.asked) == asked


async def test_output_can_be_waited_for(desk: Desk) -> None:
    await desk.run("sleep 0.1; echo done", run_in_background=True)
    result = await use(TaskOutput(desk.tasks), task_id="bash-1", block=True, timeout=PATIENCE_S)
    assert result.output == "done\n"
    assert "bash-1" in result.message
    said: list[str] = []

    async def say(text: str) -> None:
        said.append(text)

    await desk.tasks.remind(say)
    assert not said  # the model has seen the end


async def test_of_long_output_the_end_comes_and_the_file_is_named(desk: Desk) -> None:
    await desk.run("seq 20000", run_in_background=True)
    task = await ended(desk)
    result = await use(TaskOutput(desk.tasks), task_id="bash-1")
    assert isinstance(result.output, str)
    assert len(result.output) == LIMIT
    assert result.output.endswith("20000\n")
    assert task.output in result.message
    assert plain(Path(task.output).read_text()).count("\n") == 20000


async def test_tasks_are_listed(desk: Desk) -> None:
    listing = TaskList(desk.tasks)
    assert "no background tasks" in (await use(listing)).message
    await desk.run("sleep 60", run_in_background=True, description="the server")
    await desk.run("true", run_in_background=True, description="quick")
    await ended(desk, "bash-2")
    assert "bash-1 (the server): running" in str((await use(listing)).output)
    assert "bash-2" not in str((await use(listing)).output)
    assert "bash-2 (quick): done, exit code 0" in str((await use(listing, active_only=False)).output)


@pytest.mark.parametrize("kind", [TaskOutput, TaskStop])
async def test_a_task_that_is_not_there_is_said_so(desk: Desk, kind: type[Any]) -> None:
    await desk.run("true", run_in_background=True)
    tool = kind(desk.tasks) if kind is TaskOutput else kind(desk.tasks, desk.consent)
    result = await use(tool, task_id="bash-7")
    assert result.is_error
    assert "There are: bash-1." in result.message


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
