"""Background commands, and the tools that manage them."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.permission.subject import CommandSubject, TaskSubject
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.background.task_list import TaskList
from kimi_tui.tools.background.task_output import MAX_OUTPUT_BYTES, TaskOutput
from kimi_tui.tools.background.task_stop import TaskStop
from kimi_tui.tools.shell.bash import BashParams
from kimi_tui.tools.tool import Tool
from kimi_tui.wire.background import BackgroundTask
from kimi_tui.wire.display_blocks import BackgroundTaskBlock
from kimi_tui.wire.events import ToolReturn
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.call_context import build_context
from tests.tools.test_bash import BashEnv


@pytest.fixture
async def tool_env(tmp_path: Path) -> AsyncIterator[BashEnv]:
    tool_env = BashEnv(tmp_path)
    yield tool_env
    await tool_env.tasks.close()
    await tool_env.shell.close()


async def run_tool(tool: Tool[Any], **arguments: object) -> ToolReturn:
    return await tool.run(tool.Params.model_validate(arguments), build_context())


async def wait_for_end(tool_env: BashEnv, task_id: str = "bash-1") -> BackgroundTask:
    task = await tool_env.tasks.wait_for(task_id, timeout_s=TEST_TIMEOUT_S)
    assert task is not None
    assert task.status != "running"
    return task


async def wait_for_output(tool_env: BashEnv, text: str, task_id: str = "bash-1") -> None:
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while text not in (await tool_env.tasks.read(task_id, 0, MAX_OUTPUT_BYTES))[1]:
            await asyncio.sleep(0.01)


async def test_a_background_command_returns_immediately(tool_env: BashEnv) -> None:
    result = await tool_env.run(
        "read -r x < fifo; echo $x", run_in_background=True, description="wait for it"
    )
    assert not result.is_error
    assert "bash-1" in result.message
    assert BackgroundTaskBlock("bash-1", "bash", "running", "wait for it") in result.display
    assert tool_env.approval.requests[0][0] == "run command in the background"
    assert tool_env.approval.requests[0][2] == CommandSubject.parse("read -r x < fifo; echo $x")
    assert tool_env.log.exclusive_count == 1


async def test_a_background_command_reports_its_exit_code_and_sanitized_output(tool_env: BashEnv) -> None:
    await tool_env.run(r"printf '\033[31mred\033[0m\n'; exit 3", run_in_background=True)
    task = await wait_for_end(tool_env)
    assert (task.status, task.outcome) == ("failed", "exit code 3")
    result = await run_tool(TaskOutput(tool_env.tasks), task_id="bash-1")
    assert result.output == "red\n"
    assert "exit code 3" in result.message


async def test_a_timeout_ends_a_background_command(tool_env: BashEnv) -> None:
    await tool_env.run("sleep 60", run_in_background=True, timeout=1)
    task = await wait_for_end(tool_env)
    assert task.status == "timed_out"


async def test_long_timeouts_are_only_allowed_in_the_background() -> None:
    assert BashParams.model_validate({"command": "x", "timeout": 86_400, "run_in_background": True})
    for arguments in ({"timeout": 301}, {"timeout": 86_401, "run_in_background": True}, {"timeout": 0}):
        with pytest.raises(ValidationError):
            BashParams.model_validate({"command": "x", **arguments})


async def test_stopping_ends_everything_a_command_started(tool_env: BashEnv) -> None:
    await tool_env.run("sleep 60 & echo $!; wait", run_in_background=True)
    await wait_for_output(tool_env, "\n")
    child = int((await tool_env.tasks.read("bash-1", 0, MAX_OUTPUT_BYTES))[1])
    result = await run_tool(
        TaskStop(tool_env.tasks, tool_env.approval), task_id="bash-1", reason="not needed"
    )
    assert not result.is_error
    assert tool_env.approval.requests[-1][0] == "stop background task"
    assert "not needed" in tool_env.approval.requests[-1][1]
    assert tool_env.approval.requests[-1][2] == TaskSubject("bash-1")
    assert (await wait_for_end(tool_env)).status == "stopped"
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while _is_alive(child):
            await asyncio.sleep(0.01)


async def test_a_rejected_stop_stops_nothing(tmp_path: Path) -> None:
    tool_env = BashEnv(tmp_path, agrees=True)
    await tool_env.run("sleep 60", run_in_background=True)
    tool_env.approval._agrees = False
    with pytest.raises(ToolRejected):
        await run_tool(TaskStop(tool_env.tasks, tool_env.approval), task_id="bash-1")
    assert tool_env.tasks.running
    await tool_env.tasks.close()


async def test_stopping_an_ended_task_needs_no_approval(tool_env: BashEnv) -> None:
    await tool_env.run("true", run_in_background=True)
    await wait_for_end(tool_env)
    n_requests = len(tool_env.approval.requests)
    result = await run_tool(TaskStop(tool_env.tasks, tool_env.approval), task_id="bash-1")
    assert "has already ended" in result.message
    assert len(tool_env.approval.requests) == n_requests


async def test_task_output_can_wait_for_the_end(tool_env: BashEnv) -> None:
    await tool_env.run("sleep 0.1; echo done", run_in_background=True)
    result = await run_tool(TaskOutput(tool_env.tasks), task_id="bash-1", block=True, timeout=TEST_TIMEOUT_S)
    assert result.output == "done\n"
    assert "bash-1" in result.message
    reminders: list[str] = []

    async def add_reminder(text: str) -> None:
        reminders.append(text)

    await tool_env.tasks.remind(add_reminder)
    assert not reminders  # the model has seen the end


async def test_the_end_of_long_output_is_returned_with_the_path_of_the_file(tool_env: BashEnv) -> None:
    await tool_env.run("seq 20000", run_in_background=True)
    task = await wait_for_end(tool_env)
    result = await run_tool(TaskOutput(tool_env.tasks), task_id="bash-1")
    assert isinstance(result.output, str)
    assert len(result.output) == MAX_OUTPUT_BYTES
    assert result.output.endswith("20000\n")
    assert task.output in result.message
    assert sanitize(Path(task.output).read_text()).count("\n") == 20000


async def test_tasks_are_listed(tool_env: BashEnv) -> None:
    listing = TaskList(tool_env.tasks)
    assert "No background tasks" in (await run_tool(listing)).message
    await tool_env.run("sleep 60", run_in_background=True, description="the server")
    await tool_env.run("true", run_in_background=True, description="quick")
    await wait_for_end(tool_env, "bash-2")
    assert "bash-1 (the server): running" in str((await run_tool(listing)).output)
    assert "bash-2" not in str((await run_tool(listing)).output)
    assert "bash-2 (quick): done, exit code 0" in str((await run_tool(listing, active_only=False)).output)


@pytest.mark.parametrize("kind", [TaskOutput, TaskStop])
async def test_an_unknown_task_is_an_error(tool_env: BashEnv, kind: type[Any]) -> None:
    await tool_env.run("true", run_in_background=True)
    tool = kind(tool_env.tasks) if kind is TaskOutput else kind(tool_env.tasks, tool_env.approval)
    result = await run_tool(tool, task_id="bash-7")
    assert result.is_error
    assert "Known tasks: bash-1." in result.message


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
