"""Workspace of the "overlayfs" backend."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.workspaces.command_process import CommandProcess
from kimi_tui.workspaces.commit_lock import CommitLock
from kimi_tui.workspaces.effects import CommitPlan, CommitResult, Effects
from kimi_tui.workspaces.open_record import OpenRecord, OpenRecords, WorkspaceOwner
from kimi_tui.workspaces.overlay.change_time import find_change_time
from kimi_tui.workspaces.overlay.command_bounds import CommandBounds, written_folders
from kimi_tui.workspaces.overlay.direct_reason import find_direct_reason, find_split_links
from kimi_tui.workspaces.overlay.layer_commit import LayerCommit
from kimi_tui.workspaces.overlay.mounted_layer import MountedLayer
from kimi_tui.workspaces.overlay.supervisor_client import (
    CommandEnd,
    MountedView,
    SupervisorClient,
    ViewUnavailable,
)
from kimi_tui.workspaces.overlay.write_limit import WriteGuard, WriteLimit
from kimi_tui.workspaces.run_report import RunReport

_END_GRACE_S = 0.5
"""How long processes that a command left may take to end, before it counts as one that starts a daemon."""


class OverlayWorkspace:
    """A workspace in a mount namespace. It is a `Workspace`."""

    is_private = True

    def __init__(
        self,
        client: SupervisorClient,
        records: OpenRecords,
        mounted: MountedLayer,
        owner: WorkspaceOwner,
        lock: CommitLock,
        bounds: CommandBounds | None = None,
        *,
        limit: WriteLimit,
    ) -> None:
        """Create the workspace, which owns `mounted` from then on."""
        self._guard = WriteGuard(written_folders(mounted.layer, bounds), limit)
        self._client = client
        self._records = records
        self._mounted = mounted
        self._layer = mounted.layer
        self._folder = mounted.folder
        self._owner = owner
        self._lock = lock
        self._bounds = bounds
        self.report = RunReport()
        """Implements `Workspace.report`."""
        self._view = mounted.take_view()
        self._ended_view: MountedView | None = None
        """The view before, which may not be unmounted yet."""
        self._base_ns = 0
        """The ctime from which on a file was changed after the first command began."""
        self._effects: Effects | None = None
        self._is_used = False
        """Whether the layer contains what was committed or discarded."""

    def discard_rest(self) -> MountedLayer:
        """Discard what isn't committed, and return what `MountedLayer.remove` has to remove."""
        self._end_view()
        self._records.forget(self._folder)
        return self._mounted

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Implement `Workspace.start_process`."""
        try:
            if self._view is None or self._view.pid:
                self._end_view()
                self._view = await self._mount()
            view = self._view
            if not self._base_ns:
                await self._begin_record()
        except ViewUnavailable as error:
            raise OSError(str(error)) from error
        self._effects = None
        self.report = RunReport()
        if self._bounds is None:
            await view.start_process(argv, cwd=cwd, environment=environment, output=output)
        else:
            line, observation = await asyncio.to_thread(self._bounds.wrap_command, argv, cwd)
            await view.start_process(
                line,
                cwd=cwd,
                environment=self._bounds.filter_environment(environment),
                output=output,
                observation=observation,
            )
        self._guard.watch(view)
        return view

    @property
    def stop_reason(self) -> str:
        """Implement `Workspace.stop_reason`."""
        return self._guard.stop_reason

    async def finish(self, output: str = "") -> str:
        """Implement `Workspace.finish`."""
        if self._view is not None:
            end = await self._view.find_end(_END_GRACE_S) if self._view.pid else CommandEnd()
            if self._bounds is not None:
                status = self._view.returncode or 0
                self.report = await asyncio.to_thread(self._bounds.build_report, end, status)
            self._end_view()
            if end.n_remaining:
                return msg("it left processes running")
        try:
            effects = await self.effects()
        except (OSError, RecursionError) as error:
            return msg("its changes can't be read: {reason}", reason=error)
        reason = find_split_links(effects.items) if self._layer.mode == "user" else ""
        return reason or find_direct_reason(output)

    async def effects(self) -> Effects:
        """Implement `Workspace.effects`."""
        self._end_view()
        if self._effects is None:
            self._effects = await asyncio.to_thread(self._commit_of_layer().read_effects)
        return self._effects

    async def plan(self, *, again: bool = False) -> CommitPlan:
        """Implement `Workspace.plan`."""
        if again:
            self._effects = None
        effects = await self.effects()
        return await asyncio.to_thread(self._commit_of_layer().plan, effects)

    async def commit(self, plan: CommitPlan, *, only: Collection[str] | None = None) -> CommitResult:
        """Implement `Workspace.commit`."""
        self._end_view()
        result = await run_in_thread_shielded(self._commit_of_layer().commit, plan, only)
        await self.discard()
        return result

    async def discard(self) -> None:
        """Implement `Workspace.discard`. The next command, or `close`, removes the old layer."""
        self._end_view()
        self._records.forget(self._folder)
        self._base_ns = 0
        self._effects = Effects()
        self._is_used = True

    async def _mount(self) -> MountedView:
        if self._is_used:
            await run_in_thread_shielded(self._renew)
        if self._ended_view is not None:
            await self._ended_view.wait_for_unmount()
        self._layer.allow_remount()
        return await self._client.mount(self._layer.spec())

    async def _begin_record(self) -> None:
        """Record that a command is about to write to the layer."""
        self._base_ns = await find_change_time(self._layer.folder, self._layer.roots)
        self._layer.copy_times()
        layer = {**self._layer.to_record(), "base_ns": self._base_ns}
        self._records.write(OpenRecord(folder=self._folder, owner=self._owner, layer=layer))

    def _end_view(self) -> None:
        if self._view is not None:
            self._view.close()
            self._ended_view, self._view = self._view, None

    def _renew(self) -> None:
        self._layer.remove()
        self._records.empty_folder(self._folder)
        self._layer.create()
        self._is_used = False

    def _commit_of_layer(self) -> LayerCommit:
        return LayerCommit(self._layer, self._folder, base_ns=self._base_ns, lock=self._lock)
