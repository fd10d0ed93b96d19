"""Shared preparation of checkpoints' files for workspaces that are opened at the same time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import display_path
from kimi_tui.engine.files.snapshot_worker import SnapshotBusyError, SnapshotWorker
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.history.snapshots.manifest import ManifestMissing
from kimi_tui.workspaces.checkpoint.private_view import PrivateTree
from kimi_tui.workspaces.checkpoint.state_differences import StateDifferences
from kimi_tui.workspaces.checkpoint.state_layer import StateLayer
from kimi_tui.workspaces.checkpoint.state_layers import StateLayers
from kimi_tui.workspaces.workspaces import Workspaces

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

T = TypeVar("T")
HistoryQuery = Callable[["FileHistory"], T]
_BUSY_DELAY_S = 0.2
_KEEP_S = 30.0
"""Seconds for which states and layers stay cached after the last view was closed."""


class StateUnavailable(KimiTuiError):
    """The files at a checkpoint are no longer completely stored."""


class SharedState:
    """Differences between one state and the current files."""

    def __init__(self) -> None:
        self.changes: Changes = {}
        self.layer: StateLayer | None = None
        """Layer with the changes. None: no changes, or views are copies."""
        self.users = 0
        """Number of views that use this state or wait for it."""


class SharedStates:
    """Prepares the files of checkpoints for views of one working directory.

    One state is prepared at a time. Equal requests that wait share one result.
    """

    def __init__(
        self, worker: SnapshotWorker, workspaces: Workspaces, *, work_dir: Path, added_dirs: Sequence[Path]
    ) -> None:
        self._worker = worker
        self._workspaces = workspaces
        self._work_dir = work_dir
        self._added_dirs = added_dirs
        self._differences: StateDifferences | None = None
        """Cached while views are opened in succession, as in a search."""
        self._layers: StateLayers | None = None
        """Layers of the latest request."""
        self._preparing = asyncio.Lock()
        self._waiting: dict[tuple[str | None, object], tuple[SharedState, asyncio.Task[None]]] = {}
        """Requests whose preparation hasn't begun."""
        self._release: asyncio.TimerHandle | None = None
        self._releasing: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def use(self, state: str | None, replaced: Changes | None) -> AsyncIterator[SharedState]:
        """Prepare the files of `state` with the changes `replaced`, for the duration of the block.

        If `state` is None, the changes apply to the current files.
        Raises StateUnavailable, KimiTuiError and OSError.
        """
        key = state, frozenset(replaced.items()) if replaced else None
        if key not in self._waiting:
            shared = SharedState()
            task = asyncio.create_task(self._prepare(shared, key, state, replaced or {}))
            task.add_done_callback(_retrieve_exception)
            self._waiting[key] = shared, task
        shared, task = self._waiting[key]
        shared.users += 1
        try:
            await asyncio.shield(task)
            yield shared
        finally:
            shared.users -= 1
            if not shared.users and shared.layer is not None:
                shared.layer.users -= 1
            self._release_later()

    def write_to(self, history: "FileHistory", *, changes: Changes, tree: PrivateTree) -> None:
        """Write changes to a copy of the files. Runs in the worker's thread. Raises StateUnavailable."""
        from kimi_tui.history.snapshots.blob_store import BlobMissing
        from kimi_tui.workspaces.checkpoint.state_writer import write_changes

        try:
            failed = write_changes(changes, history.blobs, tree, work_dir=self._work_dir)
        except BlobMissing as error:
            raise _not_stored() from error
        if failed:
            raise _not_covered(failed[0])

    async def _prepare(
        self, shared: SharedState, key: tuple[str | None, object], state: str | None, replaced: Changes
    ) -> None:
        async with self._preparing:
            del self._waiting[key]
            self._layers = await self._workspaces.find_state_layers(self._work_dir, self._added_dirs)
            query = partial(self._find_state, state=state, replaced=replaced, layers=self._layers)
            shared.changes, layer = await use_when_free(self._worker, query)
            if layer is not None and shared.users:
                shared.layer = layer
                layer.users += 1

    def _find_state(
        self, history: "FileHistory", *, state: str | None, replaced: Changes, layers: StateLayers | None
    ) -> tuple[Changes, StateLayer | None]:
        """Return a state's differences from the current files, and a layer with these differences.

        Runs in the worker's thread.
        """
        from kimi_tui.history.snapshots.blob_store import BlobMissing

        try:
            changes = {**self._find_differences(history, state), **replaced}
            if layers is None:
                return changes, None
            prepared = layers.prepare(changes, history.blobs, work_dir=self._work_dir)
        except (ManifestMissing, BlobMissing) as error:
            raise _not_stored() from error
        if prepared.failed:
            raise _not_covered(prepared.failed[0])
        return changes, prepared.layer

    def _find_differences(self, history: "FileHistory", state: str | None) -> Changes:
        if state is None:
            return {}
        current = capture_known_changes(history)
        differences = self._differences
        if differences is None or differences.manifests is not history.manifests:
            differences = self._differences = StateDifferences(history.manifests)
        return differences.between(current, state)

    def _release_later(self) -> None:
        """Free the cached states and layers once no view has been opened or closed for _KEEP_S seconds."""
        if self._release is not None:
            self._release.cancel()
        self._release = asyncio.get_running_loop().call_later(_KEEP_S, self._forget)

    def _forget(self) -> None:
        self._differences = self._release = None
        if self._layers is not None:
            self._releasing = asyncio.create_task(self._remove_unused(self._layers))

    async def _remove_unused(self, layers: StateLayers) -> None:
        async with self._preparing:
            await asyncio.to_thread(layers.remove_unused)


async def use_when_free(worker: SnapshotWorker, query: HistoryQuery[T]) -> T:
    """Run `query` when running scans have finished, however long they take."""
    while True:
        try:
            return await worker.use(query)
        except SnapshotBusyError:
            await asyncio.sleep(_BUSY_DELAY_S)


def capture_known_changes(history: "FileHistory") -> str:
    """Return the state with all changes that can be found quickly."""
    return history.capture_if_small(history.default_author()).manifest


def _retrieve_exception(task: "asyncio.Task[None]") -> None:
    """Mark a preparation's exception as retrieved, because its waiters may have been canceled."""
    if not task.cancelled():
        task.exception()


def _not_stored() -> StateUnavailable:
    return StateUnavailable(
        "The files of that checkpoint are no longer stored.", hint="Choose another checkpoint."
    )


def _not_covered(path: str) -> StateUnavailable:
    return StateUnavailable(
        msg("Not all files of that checkpoint are covered: {path}.", path=display_path(path)),
        hint="Choose another checkpoint.",
    )
