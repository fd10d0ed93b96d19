"""File states of a session at checkpoints and around tool calls, and the authors of changes."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, assert_never

from kimi_tui.base.errors import FileProblem, KimiTuiError
from kimi_tui.base.message import ToolCall
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.base.shielding import run_shielded
from kimi_tui.engine.files.coverage import HistoryPaths, history_path, list_uncovered
from kimi_tui.engine.files.snapshot_worker import (
    MAX_WAIT_S,
    ScanScope,
    SnapshotBusyError,
    SnapshotWorker,
    combine_changes,
)
from kimi_tui.history.checkpoint_tree import NOT_CAPTURED_YET
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.soul.file_states import FilesAtCheckpoint
from kimi_tui.tools.change_tracker import PendingChange, PendingCommit
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.timeline import FileChanges

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.plan_executor import ExecutionResult

logger = logging.getLogger(__name__)


class FileStateLog(Protocol):
    """Records file states of checkpoints. Implemented by the conversation."""

    async def record_files(self, checkpoint_id: int, files: str, changes: FileChanges | None) -> None:
        """Record the file state of a checkpoint that was created before the state was known."""


class SessionFiles:
    """Implements `soul.FileStates`, and gives access to the file history.

    Checkpoints don't wait for a file scan: `capture_pending` adds their states later. Tools that may change
    files do wait. A failed scan only reduces coverage: it is logged, checkpoints record the reason, and the
    turn continues.
    """

    def __init__(
        self,
        worker: SnapshotWorker,
        *,
        workspace: PathScope,
        enabled: bool,
        log: FileStateLog,
    ) -> None:
        self.worker = worker
        """Gives access to the file history."""
        worker.authors = self
        self._workspace = workspace
        self._enabled = enabled
        self._log = log
        self._pending_checkpoints: list[int] = []
        """Checkpoints whose state is being captured."""
        self._capture_requested = asyncio.Event()
        self._uncommitted_changes = FileChanges()
        """Changes since the last checkpoint."""
        self._tool_paths: dict[str, None] = {}
        """Files changed by tools since the last call of `pop_tool_paths`."""
        self._state = ""
        self._problem = NOT_CAPTURED_YET if enabled else "the config sets `files = false` under [checkpoints]"
        self._calls: list[ChangeAuthor] = []
        """Running calls that may change files, newest last."""
        self._background_scan: ScanScope = "all"
        """Scope of the scans for checkpoints."""
        self._tasks: dict[str, ChangeAuthor] = {}
        """Running background tasks."""

    @property
    def is_enabled(self) -> bool:
        """Whether file states are recorded."""
        return self._enabled

    def avoid_scans(self) -> None:
        """Don't scan a large project for checkpoints. Call before the first state is captured.

        Checkpoints then contain only changes that are known without a scan. Other changes are found when a
        plan is made.
        """
        self._background_scan = "few files"
        self.worker.loads_lazily = True

    async def capture_initial(self) -> "ExecutionResult | None":
        """Capture the first state. Return the outcome of an interrupted revert, or None."""
        if self._enabled:
            await self._capture(scan=self._background_scan)
        return self.worker.recovered_outcome

    async def capture_pending(self) -> None:
        """Capture the states of new checkpoints, until canceled."""
        while True:
            await self._capture_requested.wait()
            self._capture_requested.clear()
            if self._pending_checkpoints:
                await self._capture(scan=self._background_scan)

    async def close(self) -> None:
        """Cancel the running scan, and save the scan state for the next session."""
        await self.worker.close()

    def at_checkpoint(self, *, fresh: bool) -> FilesAtCheckpoint:
        """Implement `FileStates.at_checkpoint`."""
        if not self._enabled:
            return FilesAtCheckpoint(self._problem)
        if fresh or self._pending_checkpoints or not self._state:
            return FilesAtCheckpoint(NOT_CAPTURED_YET, is_pending=True)
        return FilesAtCheckpoint(self._state, self._pop_changes())

    def request_state(self, checkpoint_id: int) -> None:
        """Implement `FileStates.request_state`."""
        self._pending_checkpoints.append(checkpoint_id)
        self._capture_requested.set()

    def tracking(
        self, call: ToolCall, change: PendingChange | PendingCommit, /
    ) -> AbstractAsyncContextManager[None]:
        """Implement `FileStates.tracking`."""
        return self.tracking_by(self.author(call, change.command), change)

    def author(self, call: ToolCall, command: str, /, *, agent: str = "") -> ChangeAuthor:
        """Implement `FileStates.author`. `agent` is the sub-agent that makes the call."""
        return ChangeAuthor(
            who="call",
            session=self.worker.session,
            call=call.id,
            tool=call.function.name,
            agent=agent,
            command=command,
        )

    def for_subagent(self, agent_id: str) -> "SubagentFiles":
        """Return the same files for a sub-agent, whose checkpoints belong to another conversation."""
        return SubagentFiles(self, agent_id)

    @asynccontextmanager
    async def tracking_task(self, task_id: str, command: str) -> AsyncIterator[None]:
        """Track a background task. It is the author of changes that are found while no tool call runs."""
        author = ChangeAuthor(
            who="background",
            session=self.worker.session,
            call=task_id,
            command=command,
            began=time.time(),
        )
        self._tasks[task_id] = author
        try:
            yield
        finally:
            if self._enabled:
                await run_shielded(self._capture())
            del self._tasks[task_id]

    def tracking_task_commit(self, task_id: str, commit: PendingCommit) -> AbstractAsyncContextManager[None]:
        """Record the paths that a background task commits from its workspace as changes by the task."""
        return self._tracking_commit(self._tasks[task_id], commit)

    @asynccontextmanager
    async def tracking_user_command(self, command: str) -> AsyncIterator[None]:
        """Track a command that the user runs.

        Its changes are recorded as the user's even if a call is running.
        """
        began = time.time()
        if self._enabled:
            await self._capture()
        try:
            yield
        finally:
            if self._enabled:
                await run_shielded(self._capture(replace(USER, command=command, began=began)))

    async def capture_now(self) -> FilesAtCheckpoint:
        """Return the file state from a new scan, and the changes since the last checkpoint.

        Raises SnapshotBusyError after MAX_WAIT_S seconds.
        """
        if self._enabled:
            await self._capture(wait_s=MAX_WAIT_S)
        if not self._state:
            return FilesAtCheckpoint(self._problem)
        return FilesAtCheckpoint(self._state, self._pop_changes())

    async def wait_for_states(self) -> None:
        """Wait up to MAX_WAIT_S seconds for states that are being captured."""
        if self._enabled and (self._pending_checkpoints or not self._state):
            with suppress(SnapshotBusyError):
                await self._capture(wait_s=MAX_WAIT_S)

    def changes_since_checkpoint(self) -> FileChanges | None:
        """Return the file changes since the newest checkpoint, or None if they aren't known yet."""
        return self._uncommitted_changes if self._state and not self._pending_checkpoints else None

    def pop_tool_paths(self) -> tuple[str, ...]:
        """Return the files that tools have changed since the last call."""
        changed, self._tool_paths = tuple(self._tool_paths), {}
        return changed

    def current_state(self) -> str:
        """Return the file state, or the reason why the state is unknown."""
        return self._state or self._problem

    async def describe_uncovered(self) -> list[str]:
        """Return one line for each path that isn't covered."""
        if not self._enabled:
            return [msg("Files aren't covered: {reason}.", reason=as_message(self._problem))]
        try:
            return await self.worker.use(list_uncovered)
        except KimiTuiError as error:
            return [str(error)]

    def current_author(self) -> ChangeAuthor:
        """Return the most likely author of changes that are found now."""
        if self._calls:
            return self._calls[-1]
        return next(reversed(self._tasks.values()), USER)

    def tracking_by(
        self, author: ChangeAuthor, change: PendingChange | PendingCommit
    ) -> AbstractAsyncContextManager[None]:
        """Return a context in which `change` is recorded as made by `author`."""
        match change:
            case PendingChange():
                return self._tracking_change(author, change)
            case PendingCommit():
                return self._tracking_commit(author, change)
            case _:
                assert_never(change)

    @asynccontextmanager
    async def _tracking_change(self, author: ChangeAuthor, change: PendingChange) -> AsyncIterator[None]:
        paths = _covered_paths(self._workspace, change.files) if self._enabled else []
        if paths is not None and not paths:
            yield
            return
        began = time.time()
        with self.worker.delaying_tool(author.tool):
            is_captured = await self._scan(paths=paths)
        author = replace(
            author,
            session=author.session or self.worker.session,
            began=began if paths is None else 0.0,
        )
        async with self._open_call(author, paths):
            self._calls.append(author)  # now: a scan that begins now may find the change
            try:
                if is_captured:
                    await self._record_pending()
                yield
            finally:
                try:
                    await run_shielded(self._capture(author, paths))
                finally:
                    self._calls.remove(author)

    async def record_commit(self, author: ChangeAuthor, paths: Collection[str]) -> None:
        """Record `paths`, which a commit has already changed, as changes by `author`."""
        if self._enabled:
            await self._capture(author, _to_history_paths(self._workspace, paths), scan="paths")

    @asynccontextmanager
    async def _tracking_commit(self, author: ChangeAuthor, commit: PendingCommit) -> AsyncIterator[None]:
        """Record the committed paths as changes by `author`, and their earlier changes as the user's."""
        if not self._enabled:
            yield
            return
        paths = _to_history_paths(self._workspace, commit.paths)
        renames = _to_history_renames(self._workspace, commit.renames)
        is_captured = await self._scan(USER, paths, scan="paths")
        author = replace(author, session=author.session or self.worker.session)
        self._calls.append(author)  # now: a scan that begins now may find the change
        try:
            if is_captured:
                await self._record_pending()
            yield
        finally:
            try:
                await run_shielded(self._capture(author, paths, scan="paths", renames=renames))
            finally:
                self._calls.remove(author)

    @asynccontextmanager
    async def _open_call(self, author: ChangeAuthor, paths: Collection[str] | None) -> AsyncIterator[None]:
        """Keep a file about a call that may change any path, in case the process is killed."""
        file: Path | None = None
        if paths is None and self._state:
            from kimi_tui.history.snapshots.file_history import FileHistory

            with suppress(KimiTuiError):
                file = await self.worker.use(FileHistory.begin_call, author)
        if file is None:
            yield
            return
        heartbeat = asyncio.create_task(_touch_repeatedly(file))
        try:
            yield
        finally:
            heartbeat.cancel()
            with suppress(OSError):
                file.unlink()

    async def _capture(
        self,
        author: ChangeAuthor | None = None,
        paths: Collection[str] | None = None,
        *,
        scan: ScanScope = "all",
        wait_s: float | None = None,
        renames: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        if await self._scan(author, paths, scan=scan, wait_s=wait_s, renames=renames):
            await self._record_pending()

    async def _scan(
        self,
        author: ChangeAuthor | None = None,
        paths: Collection[str] | None = None,
        *,
        scan: ScanScope = "all",
        wait_s: float | None = None,
        renames: Mapping[str, str] = MappingProxyType({}),
    ) -> bool:
        """Capture the state, but don't record it for pending checkpoints.

        Return False if the scan was canceled.
        """
        from kimi_tui.history.snapshots.deadline import ScanCanceled

        try:
            result = await self.worker.capture(author, paths, scan=scan, wait_s=wait_s, renames=renames)
        except ScanCanceled:
            self._capture_requested.set()  # checkpoints may still wait for their state
            return False
        except SnapshotBusyError:
            raise
        except Exception as error:
            logger.warning("file scan failed", exc_info=True)
            self._problem, self._state = _error_text(error), ""
        else:
            self._state = result.state
            self._uncommitted_changes = combine_changes(self._uncommitted_changes, result.changes)
            self._tool_paths |= dict.fromkeys(result.tool_paths)
        return True

    async def _record_pending(self) -> None:
        pending, self._pending_checkpoints = self._pending_checkpoints, []
        for checkpoint_id in pending:
            changes = self._pop_changes() if self._state else None
            try:
                await self._log.record_files(checkpoint_id, self._state or self._problem, changes)
            except KimiTuiError:
                logger.warning("can't record the file state of a checkpoint", exc_info=True)

    def _pop_changes(self) -> FileChanges:
        changes, self._uncommitted_changes = (
            self._uncommitted_changes,
            replace(FileChanges(), coverage=self._uncommitted_changes.coverage),
        )
        return changes


def _covered_paths(workspace: PathScope, tool_paths: Sequence[str] | None) -> list[str] | None:
    """Return the covered files among `tool_paths`, or None if `tool_paths` is None."""
    if tool_paths is None:
        return None
    paths = []
    for text in tool_paths:
        try:
            real = workspace.locate(text).real
        except FileProblem:
            continue
        if (path := history_path(workspace, real)) is not None:
            paths.append(path)
    return paths


def _to_history_paths(workspace: PathScope, paths: Collection[str]) -> list[str]:
    to_history_path = HistoryPaths(workspace).path_of
    return [path for each in paths if (path := to_history_path(each)) is not None]


def _to_history_renames(workspace: PathScope, renames: Mapping[str, str]) -> dict[str, str]:
    to_history_path = HistoryPaths(workspace).path_of
    pairs = ((to_history_path(path), to_history_path(old)) for path, old in renames.items())
    return {path: old for path, old in pairs if path is not None and old is not None}


class SubagentFiles:
    """Implements `soul.FileStates` for a sub-agent."""

    def __init__(self, files: SessionFiles, agent_id: str) -> None:
        self._files = files
        self._agent_id = agent_id

    def at_checkpoint(self, *, fresh: bool) -> FilesAtCheckpoint:
        """Return the last known state. A sub-agent's checkpoints can't be reverted to."""
        return FilesAtCheckpoint(self._files.current_state())

    def request_state(self, checkpoint_id: int) -> None:
        """Do nothing: no state is ever pending."""

    def tracking(
        self, call: ToolCall, change: PendingChange | PendingCommit, /
    ) -> AbstractAsyncContextManager[None]:
        """Implement `FileStates.tracking`."""
        return self._files.tracking_by(self.author(call, change.command), change)

    def author(self, call: ToolCall, command: str, /) -> ChangeAuthor:
        """Implement `FileStates.author`."""
        return self._files.author(call, command, agent=self._agent_id)


class IsolatedFiles(SubagentFiles):
    """Implements `soul.FileStates` for a sub-agent in a workspace, apart from the working directory."""

    def tracking(
        self, call: ToolCall, change: PendingChange | PendingCommit, /
    ) -> AbstractAsyncContextManager[None]:
        """Record nothing: the changes are recorded when they are adopted."""
        return nullcontext()


def _error_text(error: Exception) -> str:
    return getattr(error, "what", "") or f"{type(error).__name__}: {error}"


async def _touch_repeatedly(file: Path) -> None:
    """Touch the file about an open call until canceled, as a sign that this process is alive."""
    from kimi_tui.history.snapshots.open_calls import HEARTBEAT_S

    while True:
        await asyncio.sleep(HEARTBEAT_S)
        with suppress(OSError):
            await asyncio.to_thread(os.utime, file)
