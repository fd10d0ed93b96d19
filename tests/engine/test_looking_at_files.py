"""The look at the files goes on beside the conversation: only tools that may change something wait for it."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.config.settings import Checkpoints
from kimi_tui.engine.file_looks import FileLooks
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.history.snapshots.caps import Caps
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.store import ProjectStore
from kimi_tui.tools.step_calls import Change
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.commands import PlanRevert, Revert, RunSlash
from kimi_tui.wire.events import CheckpointCreated, Notification, SnapshotProgress
from kimi_tui.wire.timeline import FileChanges, Reverted, RevertPlan
from tests.engine.session import calls, says, session
from tests.patience import PATIENCE_S


class Gate:
    """Holds the file history's opening up, as a slow disk would."""

    def __init__(self, make: Callable[[], FileHistory]) -> None:
        self._make = make
        self.open = threading.Event()

    def __call__(self) -> FileHistory:
        assert self.open.wait(PATIENCE_S)
        return self._make()


class Desk:
    """A session's files with a gate before them, and what they told."""

    def __init__(self, tmp_path: Path, *, caps: Caps = Caps()) -> None:
        self.work = tmp_path / "work"
        self.work.mkdir()
        self.noted: dict[int, tuple[str, FileChanges | None]] = {}
        self.sent: list[object] = []

        def make() -> FileHistory:
            return FileHistory(ProjectStore(tmp_path / "share", self.work, "one"), caps=caps)

        self.gate = Gate(make)
        looks = FileLooks(self.gate, earlier=(), send=self.sent.append, report_every_s=0)
        self.files = SessionFiles(looks, workspace=Workspace(self.work), enabled=True, note=self._note)

    async def _note(self, checkpoint_id: int, files: str, changes: FileChanges | None) -> None:
        self.noted[checkpoint_id] = (files, changes)

    def checkpoint(self, checkpoint_id: int) -> str:
        """Make one, as the soul does; what it says of the files at once."""
        found = self.files.at_checkpoint(afresh=True)
        if found.is_due:
            self.files.find_out(checkpoint_id)
        return found.state

    def around(self, tool: str, *paths: str):
        return self.files.around(ToolCall("c", FunctionCall(tool, "{}")), Change(paths or None, ""))


async def test_a_checkpoint_never_waits_and_gets_its_state_before_a_tool_changes_anything(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    (desk.work / "a").write_text("one\n")
    watching = asyncio.create_task(desk.files.watch())
    assert desk.checkpoint(0) == "the files have not been captured yet"
    assert desk.checkpoint(1) == "the files have not been captured yet"
    entered = asyncio.Event()

    async def tool() -> None:
        async with desk.around("WriteFile", "a"):
            entered.set()
            assert set(desk.noted) == {0, 1}
            (desk.work / "a").write_text("two\n")

    running = asyncio.create_task(tool())
    await asyncio.sleep(0.05)
    assert not entered.is_set()
    assert desk.noted == {}
    desk.gate.open.set()
    await asyncio.wait_for(running, PATIENCE_S)
    assert desk.noted[0][0] == desk.noted[1][0]
    now = desk.files.at_present()
    items = await desk.files.use(lambda history: history.difference(desk.noted[0][0], now))
    assert [(item.path, item.by) for item in items] == [("a", "agent")]
    watching.cancel()
    await desk.files.close()


async def test_a_tool_that_waits_can_be_interrupted_and_the_look_goes_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    starting = asyncio.create_task(desk.files.start())
    await asyncio.sleep(0)

    async def tool() -> None:
        async with desk.around("Bash"):
            raise AssertionError("it must not run")

    running = asyncio.create_task(tool())
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, PATIENCE_S)
    desk.gate.open.set()
    await asyncio.wait_for(starting, PATIENCE_S)
    assert ":" in desk.files.at_present()
    await desk.files.close()


async def test_a_look_under_way_is_given_up_when_the_session_ends(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for folder in range(200):
        (desk.work / str(folder)).mkdir()
        (desk.work / str(folder) / "file").write_text(str(folder))
    desk.gate.open.set()
    looking = asyncio.create_task(desk.files.start())
    await asyncio.sleep(0)
    looking.cancel()
    await asyncio.wait([looking], timeout=PATIENCE_S)
    assert looking.cancelled()
    await asyncio.wait_for(desk.files.close(), PATIENCE_S)
    assert "not been captured" in desk.files.at_present()


async def test_a_first_look_that_takes_too_long_leaves_what_tools_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path, caps=Caps(first_look_s=1e-9))
    (desk.work / "a").write_text("one\n")
    (desk.work / "b").write_text("one\n")
    desk.gate.open.set()
    await desk.files.start()
    before = desk.files.at_present()
    async with desk.around("WriteFile", "a"):
        (desk.work / "a").write_text("two\n")
    assert (await desk.files.not_covered())[0].startswith("Only files that file tools write are covered")
    items = await desk.files.use(lambda history: history.plan(before).items)
    assert [(item.path, item.action) for item in items] == [("a", "restore")]
    await desk.files.close()


async def test_what_changes_while_a_background_task_runs_is_kept_unless_ticked(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.gate.open.set()
    await desk.files.start()
    before = desk.files.at_present()
    async with desk.files.background("t1", "npm run build"):
        (desk.work / "made").write_text("x\n")
        (desk.work / "built").write_text("x\n")
        async with desk.around("WriteFile", "log"):
            (desk.work / "log").write_text("agent\n")
        (desk.work / "log").write_text("agent\nbuild\n")
    (item, log, other) = (await desk.files.use(lambda history: history.plan(before))).items
    assert (item.action, log.action, other.action) == ("keep", "conflict", "keep")
    assert log.note == "the agent made it and you or `npm run build` edited it"
    assert item.note == "only you or `npm run build` changed it"
    await desk.files.close()


async def test_a_comparison_in_the_middle_of_a_call_does_not_make_its_changes_the_users(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    desk.gate.open.set()
    await desk.files.start()
    before = desk.files.at_present()
    call = ToolCall("c", FunctionCall("Bash", "{}"))
    async with desk.files.background("t1", "npm run build"):
        (desk.work / "built").write_text("x\n")
        await desk.files.use(lambda history: history.plan(before))
        async with desk.files.around(call, Change(None, "make it")):
            (desk.work / "made").write_text("x\n")
            await desk.files.use(lambda history: history.capture())
            (desk.work / "made").write_text("y\n")
    plan = await desk.files.use(lambda history: history.plan(before))
    assert [(it.path, it.action, it.note) for it in plan.items] == [
        ("built", "keep", "only you or `npm run build` changed it"),
        ("made", "delete", ""),
    ]
    assert plan.commands == ("make it",)
    await desk.files.close()


async def test_the_users_own_command_is_the_users_though_a_tool_runs(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.gate.open.set()
    await desk.files.start()
    before = desk.files.at_present()
    async with desk.around("Bash"):
        (desk.work / "agents").write_text("x\n")
        async with desk.files.users_command("touch mine"):
            (desk.work / "mine").write_text("x\n")
    items = (await desk.files.use(lambda history: history.plan(before))).items
    assert {item.path: item.action for item in items} == {"agents": "delete", "mine": "keep"}
    await desk.files.close()


async def test_calls_that_overlap_are_all_the_agents(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.gate.open.set()
    await desk.files.start()
    before = desk.files.at_present()
    helper = desk.files.of_agent("helper")
    async with desk.around("Bash"):
        (desk.work / "first").write_text("x\n")
        async with helper.around(ToolCall("d", FunctionCall("Bash", "{}")), Change(None, "make")):
            (desk.work / "second").write_text("x\n")
        (desk.work / "third").write_text("x\n")
    plan = await desk.files.use(lambda history: history.plan(before))
    assert [item.action for item in plan.items] == ["delete"] * 3
    assert plan.commands == ("make",)
    assert not helper.at_checkpoint(afresh=True).is_due
    await desk.files.close()


async def test_the_prompt_is_in_the_journal_before_the_files_are_known(tmp_path: Path) -> None:
    work, share = tmp_path / "work", tmp_path / "share"
    work.mkdir()
    async with session(work, share, says("hello")) as talk:
        await talk.ask("hi")
        told = [event.files for event in talk.all(CheckpointCreated)]
        journal = next(share.glob("sessions/*/*/context.jsonl"))
        async with asyncio.timeout(PATIENCE_S):
            while '"role":"_files"' not in journal.read_text():
                await asyncio.sleep(0.01)
    assert told[0] is None
    written = journal.read_text()
    assert written.index('"role":"_checkpoint"') < written.index('"hi"') < written.index('"role":"_files"')


async def test_uncovered_files_are_named_in_the_list_and_the_plan(tmp_path: Path) -> None:
    work, share = tmp_path / "work", tmp_path / "share"
    work.mkdir()
    (work / "big").write_bytes(b"x" * (2 << 20))
    (work / "data").mkdir()
    (work / "data" / "left out").write_text("x\n")
    script = calls(("Bash", {"command": "echo y >> big; echo y >> 'data/left out'; echo y > z"}))
    checkpoints = Checkpoints(max_file_mb=1, exclude=("data/",))
    async with session(work, share, script, says("done"), checkpoints=checkpoints) as talk:
        await talk.ask("go")
        listed = await talk.do(RunSlash("checkpoints"), Notification)
        assert "not covered: big (it is too large)" in listed.body
        plan = await talk.do(PlanRevert(0), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {"big": "not covered", "z": "delete"}
        await talk.do(Revert(0), Reverted)
    assert not (work / "z").exists()
    assert (work / "data" / "left out").read_text() == "x\ny\n"


async def test_a_long_look_tells_how_far_it_is_and_what_waits(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for number in range(100):
        (desk.work / f"f{number}").write_text("x")
    desk.gate.open.set()
    async with desk.around("Bash"):
        pass
    told = [event for event in desk.sent if isinstance(event, SnapshotProgress)]
    assert (told[0].delays, told[0].total) == ("Bash", 100)
    assert told[-1].done == told[-1].total == 100
    await desk.files.close()
