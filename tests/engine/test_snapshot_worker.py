"""Snapshot worker: scans run concurrently with the conversation, and only tools that change files wait."""

import asyncio
import threading
from pathlib import Path

import pytest

from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.config.settings import CheckpointSettings
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.files.snapshot_worker import SnapshotWorker
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.limits import SnapshotLimits
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.tools.change_tracker import PendingChange
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.commands import PlanRevert, Revert, RunSlash
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import CheckpointCreated, Notification, SnapshotProgress
from kimi_tui.wire.timeline import FileChanges, Reverted, RevertPlan
from tests.engine.engine_client import session, text_reply, tool_calls
from tests.timeouts import TEST_TIMEOUT_S


class Gate:
    """Delays opening the file history, like a slow disk."""

    def __init__(self, store: ProjectStore, limits: SnapshotLimits) -> None:
        self._store = store
        self._limits = limits
        self.open = threading.Event()

    def build(self) -> FileHistory:
        assert self.open.wait(TEST_TIMEOUT_S)
        return FileHistory(self._store, limits=self._limits)


class SnapshotHarness:
    """A session's files behind a gate, with the recorded states and sent events."""

    def __init__(self, tmp_path: Path, *, limits: SnapshotLimits = SnapshotLimits()) -> None:
        self.work = tmp_path / "work"
        self.work.mkdir()
        self.recorded: dict[int, tuple[str, FileChanges | None]] = {}
        self.sent = EventList()

        self.gate = Gate(ProjectStore(tmp_path / "data", self.work, "one"), limits)
        worker = SnapshotWorker(self.gate, known_states=(), sender=self.sent, report_interval_s=0)
        self.files = SessionFiles(worker, workspace=PathScope(self.work), enabled=True, log=self)

    async def record_files(self, checkpoint_id: int, files: str, changes: FileChanges | None) -> None:
        self.recorded[checkpoint_id] = (files, changes)

    def checkpoint(self, checkpoint_id: int) -> str:
        """Create a checkpoint as the soul does. Return its file state at that time."""
        files = self.files.at_checkpoint(fresh=True)
        if files.is_pending:
            self.files.request_state(checkpoint_id)
        return files.state

    def tracking(self, tool: str, *paths: str):
        return self.files.tracking(ToolCall("c", FunctionCall(tool, "{}")), PendingChange(paths or None, ""))


async def test_a_checkpoint_does_not_wait_and_gets_its_state_before_a_tool_runs(
    tmp_path: Path,
) -> None:
    harness = SnapshotHarness(tmp_path)
    (harness.work / "a").write_text("one\n")
    capturing = asyncio.create_task(harness.files.capture_pending())
    assert harness.checkpoint(0) == "the files have not been captured yet"
    assert harness.checkpoint(1) == "the files have not been captured yet"
    entered = asyncio.Event()

    async def tool() -> None:
        async with harness.tracking("WriteFile", "a"):
            entered.set()
            assert set(harness.recorded) == {0, 1}
            (harness.work / "a").write_text("two\n")

    running = asyncio.create_task(tool())
    await asyncio.sleep(0.05)
    assert not entered.is_set()
    assert harness.recorded == {}
    harness.gate.open.set()
    await asyncio.wait_for(running, TEST_TIMEOUT_S)
    assert harness.recorded[0][0] == harness.recorded[1][0]
    now = harness.files.current_state()
    items = await harness.files.worker.use(lambda history: history.difference(harness.recorded[0][0], now))
    assert [(item.path, item.by) for item in items] == [("a", "agent")]
    capturing.cancel()
    await harness.files.close()


async def test_interrupting_a_waiting_tool_does_not_stop_the_scan(tmp_path: Path) -> None:
    harness = SnapshotHarness(tmp_path)
    starting = asyncio.create_task(harness.files.capture_initial())
    await asyncio.sleep(0)

    async def tool() -> None:
        async with harness.tracking("Bash"):
            raise AssertionError("it must not run")

    running = asyncio.create_task(tool())
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, TEST_TIMEOUT_S)
    harness.gate.open.set()
    await asyncio.wait_for(starting, TEST_TIMEOUT_S)
    assert ":" in harness.files.current_state()
    await harness.files.close()


async def test_a_running_scan_is_canceled_when_the_session_ends(tmp_path: Path) -> None:
    harness = SnapshotHarness(tmp_path)
    for folder in range(200):
        (harness.work / str(folder)).mkdir()
        (harness.work / str(folder) / "file").write_text(str(folder))
    harness.gate.open.set()
    scanning = asyncio.create_task(harness.files.capture_initial())
    await asyncio.sleep(0)
    scanning.cancel()
    await asyncio.wait([scanning], timeout=TEST_TIMEOUT_S)
    assert scanning.cancelled()
    await asyncio.wait_for(harness.files.close(), TEST_TIMEOUT_S)
    assert "not been captured" in harness.files.current_state()


async def test_if_the_first_scan_times_out_only_files_of_tools_are_covered(tmp_path: Path) -> None:
    harness = SnapshotHarness(tmp_path, limits=SnapshotLimits(first_scan_s=1e-9))
    (harness.work / "a").write_text("one\n")
    (harness.work / "b").write_text("one\n")
    harness.gate.open.set()
    await harness.files.capture_initial()
    before = harness.files.current_state()
    async with harness.tracking("WriteFile", "a"):
        (harness.work / "a").write_text("two\n")
    assert (await harness.files.describe_uncovered())[0].startswith(
        "Only files written by file tools are covered"
    )
    items = await harness.files.worker.use(lambda history: history.plan(before).items)
    assert [(item.path, item.action) for item in items] == [("a", "restore")]
    await harness.files.close()


async def test_changes_during_a_background_task_are_kept_by_default(tmp_path: Path) -> None:
    harness = SnapshotHarness(tmp_path)
    harness.gate.open.set()
    await harness.files.capture_initial()
    before = harness.files.current_state()
    async with harness.files.tracking_task("t1", "npm run build"):
        (harness.work / "made").write_text("x\n")
        (harness.work / "built").write_text("x\n")
        async with harness.tracking("WriteFile", "log"):
            (harness.work / "log").write_text("agent\n")
        (harness.work / "log").write_text("agent\nbuild\n")
    (item, log, other) = (await harness.files.worker.use(lambda history: history.plan(before))).items
    assert (item.action, log.action, other.action) == ("keep", "merge", "keep")
    assert log.note == "created by the agent, edited by you or `npm run build`"
    assert item.note == "changed only by you or `npm run build`"
    await harness.files.close()


async def test_a_comparison_during_a_call_attributes_its_changes_to_the_agent(
    tmp_path: Path,
) -> None:
    harness = SnapshotHarness(tmp_path)
    harness.gate.open.set()
    await harness.files.capture_initial()
    before = harness.files.current_state()
    call = ToolCall("c", FunctionCall("Bash", "{}"))
    async with harness.files.tracking_task("t1", "npm run build"):
        (harness.work / "built").write_text("x\n")
        await harness.files.worker.use(lambda history: history.plan(before))
        async with harness.files.tracking(call, PendingChange(None, "make_history it")):
            (harness.work / "made").write_text("x\n")
            await harness.files.worker.use(lambda history: history.capture())
            (harness.work / "made").write_text("y\n")
    plan = await harness.files.worker.use(lambda history: history.plan(before))
    assert [(it.path, it.action, it.note) for it in plan.items] == [
        ("built", "keep", "changed only by you or `npm run build`"),
        ("made", "delete", "changed while `make_history it` ran"),
    ]
    assert plan.commands == ("make_history it",)
    await harness.files.close()


async def test_changes_by_a_user_command_are_the_users_while_a_tool_runs(tmp_path: Path) -> None:
    harness = SnapshotHarness(tmp_path)
    harness.gate.open.set()
    await harness.files.capture_initial()
    before = harness.files.current_state()
    async with harness.tracking("Bash"):
        (harness.work / "agents").write_text("x\n")
        async with harness.files.tracking_user_command("touch mine"):
            (harness.work / "mine").write_text("x\n")
    items = (await harness.files.worker.use(lambda history: history.plan(before))).items
    assert {item.path: item.action for item in items} == {"agents": "delete", "mine": "keep"}
    await harness.files.close()


async def test_changes_by_overlapping_calls_are_all_the_agents(tmp_path: Path) -> None:
    harness = SnapshotHarness(tmp_path)
    harness.gate.open.set()
    await harness.files.capture_initial()
    before = harness.files.current_state()
    helper = harness.files.for_subagent("helper")
    async with harness.tracking("Bash"):
        (harness.work / "first").write_text("x\n")
        async with helper.tracking(ToolCall("d", FunctionCall("Bash", "{}")), PendingChange(None, "make")):
            (harness.work / "second").write_text("x\n")
        (harness.work / "third").write_text("x\n")
    plan = await harness.files.worker.use(lambda history: history.plan(before))
    assert [item.action for item in plan.items] == ["delete"] * 3
    assert plan.commands == ("make",)
    assert not helper.at_checkpoint(fresh=True).is_pending
    await harness.files.close()


async def test_the_prompt_is_journaled_before_the_file_state(tmp_path: Path) -> None:
    work, data_dir = tmp_path / "work", tmp_path / "data"
    work.mkdir()
    async with session(work, data_dir, text_reply("hello")) as client:
        await client.ask("hi")
        files = [event.files for event in client.all(CheckpointCreated)]
        journal = next(data_dir.glob("tui-sessions/*/*/context.jsonl"))
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while '"role":"_files"' not in journal.read_text():
                await asyncio.sleep(0.01)
    assert files[0] is None
    written = journal.read_text()
    assert written.index('"role":"_checkpoint"') < written.index('"hi"') < written.index('"role":"_files"')


async def test_uncovered_files_are_shown_in_the_list_and_the_plan(tmp_path: Path) -> None:
    work, data_dir = tmp_path / "work", tmp_path / "data"
    work.mkdir()
    (work / "big").write_bytes(b"x" * (2 << 20))
    (work / "data").mkdir()
    (work / "data" / "left out").write_text("x\n")
    script = tool_calls(("Bash", {"command": "echo y >> big; echo y >> 'data/left out'; echo y > z"}))
    checkpoints = CheckpointSettings(max_file_mb=1, exclude=("data/",))
    async with session(work, data_dir, script, text_reply("done"), checkpoints=checkpoints) as client:
        await client.ask("go")
        notice = await client.run_command(RunSlash("checkpoints"), Notification)
        assert "not covered: big (too large)" in notice.body
        plan = await client.run_command(PlanRevert(0), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {"big": "not covered", "z": "delete"}
        await client.run_command(Revert(0), Reverted)
    assert not (work / "z").exists()
    assert (work / "data" / "left out").read_text() == "x\ny\n"


async def test_a_long_scan_reports_its_progress_and_the_waiting_tool(tmp_path: Path) -> None:
    harness = SnapshotHarness(tmp_path)
    for number in range(100):
        (harness.work / f"f{number}").write_text("x")
    harness.gate.open.set()
    async with harness.tracking("Bash"):
        pass
    progress = [event for event in harness.sent if isinstance(event, SnapshotProgress)]
    assert (progress[0].delays, progress[0].total) == ("Bash", 100)
    assert progress[-1].done == progress[-1].total == 100
    await harness.files.close()
