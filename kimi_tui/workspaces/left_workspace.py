"""Workspace that a killed process left open."""

import asyncio
from collections.abc import Collection

from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.workspaces.commit_lock import CommitLock
from kimi_tui.workspaces.effects import CommitPlan, CommitResult, Effects
from kimi_tui.workspaces.open_record import OpenRecord, OpenRecords, WorkspaceOwner
from kimi_tui.workspaces.overlay.layer import Layer
from kimi_tui.workspaces.overlay.layer_commit import LayerCommit


class LeftWorkspace:
    """The effects of a command whose process was killed, to be committed or discarded."""

    def __init__(self, record: OpenRecord, records: OpenRecords, lock: CommitLock) -> None:
        """Create it from its record. Raises KeyError, TypeError and ValueError if that is unusable."""
        self._folder = record.folder
        self._records = records
        self._layer = Layer.from_record(record.layer)
        base_ns = int(record.layer["base_ns"])
        self._commit = LayerCommit(self._layer, record.folder, base_ns=base_ns, lock=lock)
        self.owner: WorkspaceOwner = record.owner
        """The call that was running."""

    def covers(self, path: str) -> bool:
        """Return whether `path` is in one of its directories."""
        return any(f"{path}/".startswith(f"{root}/") for root in self._layer.roots)

    async def complete_commit(self) -> CommitResult | None:
        """Complete the commit that was running, and remove the workspace. None if none had begun.

        Raises OSError.
        """
        result = await run_in_thread_shielded(self._commit.resume)
        if result is not None:
            await self.discard()
        return result

    async def effects(self) -> Effects:
        """Return what the command changed until it was killed. Raises OSError."""
        return await asyncio.to_thread(self._commit.read_effects)

    async def plan(self) -> CommitPlan:
        """Compare the effects with the current working directory. Raises OSError."""
        effects = await self.effects()
        return await asyncio.to_thread(self._commit.plan, effects)

    async def commit(self, plan: CommitPlan, *, only: Collection[str] | None = None) -> CommitResult:
        """Apply effects as `Workspace.commit` does, and remove the workspace. Raises OSError."""
        result = await run_in_thread_shielded(self._commit.commit, plan, only)
        await self.discard()
        return result

    async def discard(self) -> None:
        """Remove the workspace."""
        await run_in_thread_shielded(self._remove)

    def _remove(self) -> None:
        self._records.forget(self._folder)
        self._layer.remove()
        self._records.remove_folder(self._folder)
