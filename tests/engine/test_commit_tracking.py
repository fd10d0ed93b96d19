"""Commits of workspaces: they are recorded without a scan, and nobody else's changes are part of them."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.files.snapshot_worker import SnapshotWorker
from kimi_tui.history.snapshots import file_history
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.tools.change_tracker import PendingChange, PendingCommit
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.timeline import FileChanges


class Session:
    """The files of a session whose commands run in workspaces."""

    def __init__(self, folder: Path, name: str = "one") -> None:
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self._store = ProjectStore(folder / "data", self.work, name)
        self.recorded: dict[int, tuple[str, FileChanges | None]] = {}
        worker = SnapshotWorker(self, known_states=(), sender=EventList(), session=name)
        self.files = SessionFiles(worker, workspace=PathScope(self.work), enabled=True, log=self)
        self.files.avoid_scans()

    def build(self) -> FileHistory:
        return FileHistory(self._store)

    async def record_files(self, checkpoint_id: int, files: str, changes: FileChanges | None) -> None:
        self.recorded[checkpoint_id] = (files, changes)

    def commit(self, *names: str):
        paths = tuple(str(self.work / name) for name in names)
        call = ToolCall("c", FunctionCall("Bash", "{}"))
        return self.files.tracking(call, PendingCommit(paths, "make"))

    async def listed(self) -> set[str]:
        """Return the files in the newest state."""
        return set(await self.files.worker.use(lambda history: history.state(history.newest or "")))

    async def authors(self, start: str) -> dict[str, str]:
        """Return who changed which files since the state `start`."""
        plan = await self.files.worker.use(lambda history: history.plan(start))
        return {item.path: item.by for item in plan.items}


async def test_a_command_needs_no_scan_before_the_first_plan(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for name in ("a", "other"):
        (session.work / name).write_text("1")
    async with session.commit("a"):
        start = session.files.current_state()
        (session.work / "a").write_text("2")
    assert await session.listed() == {"a"}
    assert await session.authors(start) == {"a": "agent"}
    assert await session.listed() == {"a", "other"}


async def test_an_edit_during_the_command_is_the_users(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for name in ("agents", "mine"):
        (session.work / name).write_text("1")
    await session.files.capture_initial()
    start = session.files.current_state()
    (session.work / "mine").write_text("2")  # while the command runs in its view
    async with session.commit("agents"):
        (session.work / "agents").write_text("2")
    assert await session.authors(start) == {"agents": "agent", "mine": "you"}


async def test_a_checkpoint_before_a_command_gets_the_state_before_its_commit(tmp_path: Path) -> None:
    session = Session(tmp_path)
    (session.work / "a").write_text("1")
    assert session.files.at_checkpoint(fresh=True).is_pending
    session.files.request_state(7)
    async with session.commit("a"):
        assert 7 in session.recorded
        (session.work / "a").write_text("2")
    assert await session.authors(session.recorded[7][0]) == {"a": "agent"}


async def test_two_sessions_record_only_their_own_commits(tmp_path: Path) -> None:
    one, two = Session(tmp_path), Session(tmp_path, "two")
    for name in ("a", "b"):
        (one.work / name).write_text("1")
    starts = []
    for session in (one, two):
        await session.files.capture_initial()
        starts.append(session.files.current_state())
    async with one.commit("a"), two.commit("b"):
        (one.work / "a").write_text("2")
        (one.work / "b").write_text("2")
    assert await one.authors(starts[0]) == {"a": "agent", "b": "another session"}
    assert await two.authors(starts[1]) == {"a": "another session", "b": "agent"}


async def test_a_path_outside_of_the_covered_directories_is_not_recorded(tmp_path: Path) -> None:
    session = Session(tmp_path)
    outside = tmp_path / "elsewhere"
    async with session.commit(str(outside), "a"):
        for path in (outside, session.work / "a"):
            path.write_text("2")
    assert await session.listed() == {"a"}


async def test_a_large_project_is_not_scanned_for_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_history, "_FEW_FILES", 5)
    session = Session(tmp_path)
    for number in range(10):
        (session.work / f"file{number}").write_text("1")
    await session.files.capture_initial()
    start = session.files.current_state()
    async with session.commit("file1"):
        (session.work / "file1").write_text("2")
    assert await session.listed() == {"file1"}
    assert await session.authors(start) == {"file1": "agent"}
    (session.work / "file2").write_text("2")
    assert await session.authors(start) == {"file1": "agent", "file2": "you"}


async def test_a_small_project_is_scanned_for_checkpoints(tmp_path: Path) -> None:
    session = Session(tmp_path)
    (session.work / "a").write_text("1")
    await session.files.capture_initial()
    assert await session.listed() == {"a"}


@pytest.mark.parametrize("change", [PendingChange, PendingCommit])
async def test_a_change_belongs_to_the_call_although_a_scan_begins_just_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[..., PendingChange | PendingCommit]
) -> None:
    session = Session(tmp_path)
    await session.files.capture_initial()
    start = session.files.current_state()
    loop, scanning, written = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    scan, record = FileHistory.capture_if_small, session.record_files

    def scan_after_the_write(history: FileHistory, *arguments: object, **options: object) -> object:
        loop.call_soon_threadsafe(scanning.set)
        written.wait(10)
        return scan(history, *arguments, **options)  # type: ignore[arg-type]

    async def record_while_a_scan_begins(checkpoint: int, files: str, changes: FileChanges | None) -> None:
        await record(checkpoint, files, changes)
        await scanning.wait()

    monkeypatch.setattr(FileHistory, "capture_if_small", scan_after_the_write)
    monkeypatch.setattr(session, "record_files", record_while_a_scan_begins)
    session.files.request_state(1)
    background = asyncio.create_task(session.files.capture_pending())
    call = ToolCall("c", FunctionCall("WriteFile", "{}"))
    async with session.files.tracking(call, change((str(session.work / "a"),), "")):
        (session.work / "a").write_text("1")
        written.set()
    background.cancel()
    assert await session.authors(start) == {"a": "agent"}
