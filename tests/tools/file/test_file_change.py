"""Concurrent and canceled changes of one file."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tools.file.edit import EditFile
from kimi_tui.tools.file.read_tracker import FileTracker
from kimi_tui.tools.file.write import WriteFile
from kimi_tui.tools.tool_batch import ToolBatch
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import ToolReturn
from tests.tools.call_context import build_context
from tests.tools.tool_env import FakeUser, ToolEnv


class ScriptedEditFile(EditFile):
    description = ""


class ScriptedWriteFile(WriteFile):
    description = ""


@pytest.fixture
def tool_env(tmp_path: Path) -> ToolEnv:
    return ToolEnv(tmp_path)


class NoResultStore:
    """Saves no results."""

    async def save_result(self, call: ToolCall, result: ToolReturn) -> None:
        pass


async def run_batch(tool_env: ToolEnv, *calls: tuple[str, dict[str, Any]]) -> list[ToolReturn]:
    """Run a batch with these calls and return the results."""
    collaborators = (tool_env.path_scope, tool_env.tracker, tool_env.user)
    batch = ToolBatch(
        Toolset(
            {"EditFile": ScriptedEditFile(*collaborators), "WriteFile": ScriptedWriteFile(*collaborators)}
        ),
        [
            ToolCall(str(number), FunctionCall(name, json.dumps(arguments)))
            for number, (name, arguments) in enumerate(calls)
        ],
        sender=EventList(),
        results=NoResultStore(),
    )
    await batch.run()
    return [result for _, result in batch.results]


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "EditFile", {"path": path, "edit": {"old": old, "new": new}}


@pytest.mark.timeout(60)
async def test_edits_of_one_file_in_one_step_are_applied_in_order(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "0")
    results = await run_batch(tool_env, *(edit("a.txt", str(number), str(number + 1)) for number in range(9)))

    assert [result.is_error for result in results] == [False] * 9
    assert tool_env.read_bytes("a.txt") == b"9"


@pytest.mark.timeout(60)
async def test_edits_through_a_link_and_its_target_are_both_applied(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "one two")
    (tool_env.dir / "link.txt").symlink_to("a.txt")
    await run_batch(tool_env, edit("a.txt", "one", "1"), edit("link.txt", "two", "2"))

    assert tool_env.read_bytes("a.txt") == b"1 2"


@pytest.mark.timeout(60)
async def test_a_file_can_be_edited_in_the_step_that_creates_it(tool_env: ToolEnv) -> None:
    results = await run_batch(
        tool_env, ("WriteFile", {"path": "a.txt", "content": "one"}), edit("a.txt", "one", "two")
    )

    assert [result.is_error for result in results] == [False, False]
    assert tool_env.read_bytes("a.txt") == b"two"


@pytest.mark.timeout(60)
async def test_requests_for_edits_of_two_files_are_open_together(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "a")
    tool_env.write_file("b.txt", "b")
    tool_env.user.may_answer.clear()
    tool_env.user.on_request = lambda: (
        tool_env.user.may_answer.set() if len(tool_env.user.requests) == 2 else None
    )
    await run_batch(tool_env, edit("a.txt", "a", "A"), edit("b.txt", "b", "B"))

    assert (tool_env.read_bytes("a.txt"), tool_env.read_bytes("b.txt")) == (b"A", b"B")


@pytest.mark.timeout(60)
async def test_an_open_request_of_one_agent_does_not_block_another(tool_env: ToolEnv) -> None:
    """The other agent can write. Then the first edit fails, because the file has changed."""
    tool_env.write_file("a.txt", "one two")
    requested = asyncio.Event()
    tool_env.user.may_answer.clear()
    tool_env.user.on_request = requested.set
    waiting = asyncio.ensure_future(tool_env.edit("a.txt", "one", "1"))
    await requested.wait()

    other = EditFile(tool_env.path_scope, FileTracker(tool_env.tracker.write_locks), FakeUser())
    params = EditFile.Params.model_validate({"path": "a.txt", "edit": {"old": "two", "new": "2"}})
    assert not (await other.run(params, build_context())).is_error

    tool_env.user.may_answer.set()
    assert "changed on disk" in (await waiting).message
    assert tool_env.read_bytes("a.txt") == b"one 2"


@pytest.mark.timeout(60)
async def test_simultaneous_writes_of_two_agents_lose_nothing(tool_env: ToolEnv) -> None:
    """Either both edits are applied, or the later one fails because the file has changed."""
    for _ in range(20):
        tool_env.write_file("a.txt", "one two")
        other = EditFile(tool_env.path_scope, FileTracker(tool_env.tracker.write_locks), FakeUser())
        params = EditFile.Params.model_validate({"path": "a.txt", "edit": {"old": "two", "new": "2"}})
        results = await asyncio.gather(tool_env.edit("a.txt", "one", "1"), other.run(params, build_context()))
        content = tool_env.read_bytes("a.txt").decode()
        assert ("1" in content) == (not results[0].is_error)
        assert ("2" in content) == (not results[1].is_error)


@pytest.mark.timeout(60)
async def test_a_call_canceled_while_awaiting_approval_releases_the_file_unchanged(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "one")
    requested = asyncio.Event()
    tool_env.user.may_answer.clear()
    tool_env.user.on_request = requested.set
    running = asyncio.ensure_future(tool_env.edit("a.txt", "one", "two"))
    await requested.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    tool_env.user.may_answer.set()

    assert tool_env.read_bytes("a.txt") == b"one"
    assert not (await tool_env.edit("a.txt", "one", "three")).is_error
