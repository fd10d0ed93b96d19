"""Changes of one file that several calls, agents or a cancellation get at together."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tools.file.edit import EditFile
from kimi_tui.tools.file.ledger import FileLedger
from kimi_tui.tools.file.write import WriteFile
from kimi_tui.tools.step_calls import StepCalls
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.events import ToolReturn
from tests.tools.calls import running_call
from tests.tools.desk import Desk, User


class Edits(EditFile):
    description = ""


class Writes(WriteFile):
    description = ""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def step(desk: Desk, *calls: tuple[str, dict[str, Any]]) -> list[ToolReturn]:
    """The results of a step with these calls."""
    collaborators = (desk.workspace, desk.ledger, desk.user)

    async def keep(call: ToolCall, result: ToolReturn) -> None:
        pass

    running = StepCalls(
        Toolset({"EditFile": Edits(*collaborators), "WriteFile": Writes(*collaborators)}),
        [
            ToolCall(str(number), FunctionCall(name, json.dumps(arguments)))
            for number, (name, arguments) in enumerate(calls)
        ],
        send=lambda event: None,
        keep=keep,
    )
    await running.run()
    return [result for _, result in running.results]


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "EditFile", {"path": path, "edit": {"old": old, "new": new}}


@pytest.mark.timeout(60)
async def test_edits_of_one_file_in_one_step_all_land_in_their_order(desk: Desk) -> None:
    desk.put("a.txt", "0")
    results = await step(desk, *(edit("a.txt", str(number), str(number + 1)) for number in range(9)))

    assert [result.is_error for result in results] == [False] * 9
    assert desk.bytes_of("a.txt") == b"9"


@pytest.mark.timeout(60)
async def test_edits_by_two_names_of_one_file_both_land(desk: Desk) -> None:
    desk.put("a.txt", "one two")
    (desk.dir / "link.txt").symlink_to("a.txt")
    await step(desk, edit("a.txt", "one", "1"), edit("link.txt", "two", "2"))

    assert desk.bytes_of("a.txt") == b"1 2"


@pytest.mark.timeout(60)
async def test_an_edit_of_a_file_that_the_same_step_writes_lands(desk: Desk) -> None:
    results = await step(
        desk, ("WriteFile", {"path": "a.txt", "content": "one"}), edit("a.txt", "one", "two")
    )

    assert [result.is_error for result in results] == [False, False]
    assert desk.bytes_of("a.txt") == b"two"


@pytest.mark.timeout(60)
async def test_edits_of_two_files_are_asked_about_together(desk: Desk) -> None:
    desk.put("a.txt", "a")
    desk.put("b.txt", "b")
    desk.user.may_answer.clear()
    desk.user.while_asked = lambda: desk.user.may_answer.set() if len(desk.user.asked) == 2 else None
    await step(desk, edit("a.txt", "a", "A"), edit("b.txt", "b", "B"))

    assert (desk.bytes_of("a.txt"), desk.bytes_of("b.txt")) == (b"A", b"B")


@pytest.mark.timeout(60)
async def test_two_agents_never_wait_for_each_others_users(desk: Desk) -> None:
    """One agent's open question leaves the file to the other; then it fails, since the file changed."""
    desk.put("a.txt", "one two")
    asked = asyncio.Event()
    desk.user.may_answer.clear()
    desk.user.while_asked = asked.set
    waiting = asyncio.ensure_future(desk.edit("a.txt", "one", "1"))
    await asked.wait()

    other = EditFile(desk.workspace, FileLedger(desk.ledger.writes), User())
    params = EditFile.Params.model_validate({"path": "a.txt", "edit": {"old": "two", "new": "2"}})
    assert not (await other.run(params, running_call())).is_error

    desk.user.may_answer.set()
    assert "changed on disk" in (await waiting).message
    assert desk.bytes_of("a.txt") == b"one 2"


@pytest.mark.timeout(60)
async def test_writes_of_two_agents_at_one_moment_lose_nothing(desk: Desk) -> None:
    """Either both land, or the one that came later says that the file changed."""
    for _ in range(20):
        desk.put("a.txt", "one two")
        other = EditFile(desk.workspace, FileLedger(desk.ledger.writes), User())
        params = EditFile.Params.model_validate({"path": "a.txt", "edit": {"old": "two", "new": "2"}})
        results = await asyncio.gather(desk.edit("a.txt", "one", "1"), other.run(params, running_call()))
        landed = desk.bytes_of("a.txt").decode()
        assert ("1" in landed) == (not results[0].is_error)
        assert ("2" in landed) == (not results[1].is_error)


@pytest.mark.timeout(60)
async def test_a_call_cancelled_while_asked_changes_nothing_and_frees_the_file(desk: Desk) -> None:
    desk.put("a.txt", "one")
    asked = asyncio.Event()
    desk.user.may_answer.clear()
    desk.user.while_asked = asked.set
    running = asyncio.ensure_future(desk.edit("a.txt", "one", "two"))
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    desk.user.may_answer.set()

    assert desk.bytes_of("a.txt") == b"one"
    assert not (await desk.edit("a.txt", "one", "three")).is_error
