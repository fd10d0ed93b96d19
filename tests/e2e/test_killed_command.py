"""SIGKILL while a command runs: what it had done is the agent's change after the next start."""

import os
import signal
import time
from pathlib import Path

import pytest

from kimi_tui.wire.commands import PlanRevert
from kimi_tui.wire.events import CheckpointCreated, RevertPlan
from tests.e2e.program import Program, script, tool_call
from tests.engine.engine_client import session
from tests.timeouts import TEST_TIMEOUT_S


def start_and_kill(program: Program, command: str) -> None:
    """Kill the program with SIGKILL while the agent's command waits."""
    reached = program.home / "reached"
    program.script(script(tool_call("c1", "Bash", command=f"{command}; touch {reached}; sleep 600")))
    process = program.start("--print", "--yolo", "-p", "go")
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while not reached.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@pytest.fixture
def project(program: Program) -> Path:
    (program.work_dir / "src").mkdir()
    (program.work_dir / "src" / "a").write_text("a\n")
    (program.work_dir / "note").write_text("note\n")
    return program.work_dir


async def test_what_a_killed_command_deleted_is_the_agents_change(program: Program, project: Path) -> None:
    start_and_kill(program, "rm -rf src")
    async with session(project, program.data_dir, continue_last=True) as client:
        await client.next(CheckpointCreated)
        plan = await client.run_command(PlanRevert(client.all(CheckpointCreated)[0].id), RevertPlan)
        assert {(file.path, file.action, file.by) for file in plan.files} == {
            ("src/", "recreate", "agent"),
            ("src/a", "recreate", "agent"),
        }
    assert not (project / "src").exists()


async def test_an_edit_after_the_kill_is_not_overwritten(program: Program, project: Path) -> None:
    start_and_kill(program, "echo agent > note; echo agent > new")
    (project / "note").write_text("mine\n")
    async with session(project, program.data_dir, continue_last=True) as client:
        await client.next(CheckpointCreated)
        plan = await client.run_command(PlanRevert(client.all(CheckpointCreated)[0].id), RevertPlan)
        assert ("new", "delete", "agent") in {(file.path, file.action, file.by) for file in plan.files}
    assert (project / "note").read_text() == "mine\n"
