"""Private views of the working directory at checkpoints."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.shared_states import (
    HistoryQuery,
    SharedState,
    SharedStates,
    capture_known_changes,
    use_when_free,
)
from kimi_tui.engine.files.snapshot_worker import SnapshotWorker
from kimi_tui.history.snapshots.entry import Changes
from kimi_tui.history.snapshots.manifest import ManifestLog, ManifestMissing
from kimi_tui.workspaces.checkpoint.private_view import PrivateView
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy
from kimi_tui.workspaces.workspaces import Workspaces

T = TypeVar("T")


class CheckpointViews:
    """Opens workspaces with the files of a session's checkpoints."""

    def __init__(
        self, worker: SnapshotWorker, workspaces: Workspaces, *, work_dir: Path, added_dirs: Sequence[Path]
    ) -> None:
        self._worker = worker
        self._workspaces = workspaces
        self._work_dir = work_dir
        self._added_dirs = added_dirs
        self._states = SharedStates(worker, workspaces, work_dir=work_dir, added_dirs=added_dirs)

    async def capture_now(self) -> str:
        """Return the state of the current files, from a scan of all of them. Raises KimiTuiError."""
        return await self.use(lambda history: history.capture().manifest)

    async def capture_known_changes(self) -> str:
        """Return the state with all changes that can be found quickly. Raises KimiTuiError.

        In a large project, these are only the agent's changes.
        """
        return await self.use(capture_known_changes)

    async def are_equal(self, before: str, after: str) -> bool:
        """Return whether no file changed between two states. False if unknown."""
        return await self.use(lambda history: are_equal(before, after, history.manifests))

    @asynccontextmanager
    async def open(
        self, state: str | None, replaced: Changes | None = None, *, bounds: SandboxPolicy | None = None
    ) -> AsyncIterator[PrivateView]:
        """Open a workspace with the files of `state`, or with the current files if None.

        `replaced` are changes to make to these files. Files that no state covers, such as ignored ones, have
        their current contents. The working directory isn't changed. In a project with many files, the user's
        changes since the last scan count as part of `state`. `bounds` limit the commands in the workspace.
        Raises StateUnavailable. Raises KimiTuiError if the workspace can't be opened.
        """
        try:
            async with AsyncExitStack() as stack:
                shared = SharedState()
                if state is not None or replaced:
                    shared = await stack.enter_async_context(self._states.use(state, replaced))
                view = await stack.enter_async_context(
                    self._workspaces.open_view(
                        self._work_dir, self._added_dirs, prepared=shared.layer, bounds=bounds
                    )
                )
                if view.is_copy and shared.changes:
                    write = partial(self._states.write_to, changes=shared.changes, tree=view.tree)
                    await self.use(write)
                yield view
        except OSError as error:
            raise KimiTuiError(
                msg("Can't open a workspace: {reason}.", reason=reason_of(error)),
                hint="Free some disk space, or run `kimi-tui info` to see how commands run here.",
            ) from error

    async def use(self, query: HistoryQuery[T]) -> T:
        """Run `query` when running scans have finished, however long they take."""
        return await use_when_free(self._worker, query)


def are_equal(before: str, after: str, manifests: ManifestLog) -> bool:
    """Return whether no file changed between two states. False if unknown."""
    if before == after:
        return True
    try:
        records = manifests.records_since(before, after)
    except ManifestMissing:
        return False
    return all(not record.changes or record.author.who == "coverage" for record in records)
