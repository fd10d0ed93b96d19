"""Private views of the working directory at checkpoints."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import display_path
from kimi_tui.engine.files.snapshot_worker import SnapshotBusyError, SnapshotWorker
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.history.snapshots.manifest import ManifestLog, ManifestMissing
from kimi_tui.workspaces.checkpoint.private_view import PrivateTree, PrivateView
from kimi_tui.workspaces.checkpoint.state_differences import StateDifferences
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy
from kimi_tui.workspaces.workspaces import Workspaces

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory

T = TypeVar("T")
_BUSY_DELAY_S = 0.2
_KEEP_S = 30.0
"""How long states that were read stay in memory after the last view was opened."""


class StateUnavailable(KimiTuiError):
    """The files at a checkpoint are no longer completely stored."""


@frozen
class PreparedView:
    """A private view, and how it differed from the real files when it was opened."""

    view: PrivateView
    changes: Changes


class CheckpointViews:
    """Opens private views of one session's working directory at checkpoints."""

    def __init__(
        self, worker: SnapshotWorker, workspaces: Workspaces, *, work_dir: Path, added_dirs: Sequence[Path]
    ) -> None:
        self._worker = worker
        self._workspaces = workspaces
        self._work_dir = work_dir
        self._added_dirs = added_dirs
        self._differences: StateDifferences | None = None
        """Kept while views are opened one after another, as in a search."""
        self._release: asyncio.TimerHandle | None = None

    async def capture_now(self) -> str:
        """Return the state of today's files, from a scan of all of them. Raises KimiTuiError."""
        return await self.use(lambda history: history.capture().manifest)

    async def capture_known_changes(self) -> str:
        """Return the state with all changes that can be found quickly: in a large project, the agent's only.

        Raises KimiTuiError.
        """
        return await self.use(_capture_known_changes)

    async def are_equal(self, before: str, after: str) -> bool:
        """Return whether no file changed between two states; False if that isn't known."""
        return await self.use(lambda history: are_equal(before, after, history.manifests))

    @asynccontextmanager
    async def open(
        self, state: str | None, replaced: Changes | None = None, *, bounds: SandboxPolicy | None = None
    ) -> AsyncIterator[PrivateView]:
        """Open a view of today's files in which those that differ are as in `state`; None for today's files.

        `replaced` are changes of these files. Files that no state covers, such as ignored ones, are
        today's. The working directory isn't changed. In a project with many files, the user's own changes
        since the last scan count as part of `state`. With `bounds`, the command in the view is limited.
        Raises StateUnavailable, and KimiTuiError if there can't be a view.
        """
        async with self.open_prepared(state, replaced, bounds=bounds) as prepared:
            yield prepared.view

    @asynccontextmanager
    async def open_prepared(
        self, state: str | None, replaced: Changes | None = None, *, bounds: SandboxPolicy | None = None
    ) -> "AsyncIterator[PreparedView]":
        """Open a view as `open` does, and return it with the changes that were written to it."""
        changes: Changes = {}
        try:
            async with self._workspaces.open_view(self._work_dir, self._added_dirs, bounds=bounds) as view:
                if state is not None:
                    changes = await self.use(partial(self._prepare, state=state, tree=view.tree))
                    self._release_later()
                if replaced:
                    await self.use(
                        partial(_replace_files, changes=replaced, tree=view.tree, work_dir=self._work_dir)
                    )
                    changes = {**changes, **replaced}
                yield PreparedView(view, changes)
        except OSError as error:
            raise KimiTuiError(
                msg("Can't open a private copy of the files: {reason}.", reason=reason_of(error)),
                hint="Free some disk space, or run `kimi-tui info` to see how commands run here.",
            ) from error

    def _prepare(self, history: "FileHistory", *, state: str, tree: PrivateTree) -> Changes:
        """Write what differs in `state` to a view, and return it. Runs in the worker's thread."""
        current = _capture_known_changes(history)
        differences = self._differences
        if differences is None or differences.manifests is not history.manifests:
            differences = self._differences = StateDifferences(history.manifests)
        try:
            changes = differences.between(current, state)
        except ManifestMissing as error:
            raise _not_stored() from error
        _replace_files(history, changes=changes, tree=tree, work_dir=self._work_dir)
        return changes

    def _release_later(self) -> None:
        """Free the states that were read once no view has been opened for a while."""
        if self._release is not None:
            self._release.cancel()
        self._release = asyncio.get_running_loop().call_later(_KEEP_S, self._forget)

    def _forget(self) -> None:
        self._differences = self._release = None

    async def use(self, query: "Callable[[FileHistory], T]") -> T:
        """Run `query` when running scans have finished, however long they take."""
        while True:
            try:
                return await self._worker.use(query)
            except SnapshotBusyError:
                await asyncio.sleep(_BUSY_DELAY_S)


def are_equal(before: str, after: str, manifests: ManifestLog) -> bool:
    """Return whether no file changed between two states; False if that isn't known."""
    if before == after:
        return True
    try:
        records = manifests.records_since(before, after)
    except ManifestMissing:
        return False
    return all(not record.changes or record.author.who == "coverage" for record in records)


def _capture_known_changes(history: "FileHistory") -> str:
    return history.capture_if_small(history.default_author()).manifest


def _replace_files(history: "FileHistory", *, changes: Changes, tree: PrivateTree, work_dir: Path) -> None:
    from kimi_tui.history.snapshots.blob_store import BlobMissing
    from kimi_tui.workspaces.checkpoint.state_writer import write_changes

    try:
        failed = write_changes(changes, history.blobs, tree, work_dir=work_dir)
    except BlobMissing as error:
        raise _not_stored() from error
    if failed:
        raise StateUnavailable(
            msg("The files of that checkpoint aren't all covered: {path}.", path=display_path(failed[0])),
            hint="Choose another checkpoint.",
        )


def _not_stored() -> StateUnavailable:
    return StateUnavailable(
        "The files of that checkpoint are no longer stored.", hint="Choose another checkpoint."
    )
