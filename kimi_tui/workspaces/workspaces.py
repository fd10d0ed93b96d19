"""Workspaces of a session: chooses the backend and opens workspaces."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.workspaces.checkpoint.copied_view import CopiedView
from kimi_tui.workspaces.checkpoint.overlay_view import OverlayView
from kimi_tui.workspaces.checkpoint.private_view import PrivateView
from kimi_tui.workspaces.checkpoint.state_layer import StateLayer
from kimi_tui.workspaces.checkpoint.state_layers import StateLayers
from kimi_tui.workspaces.commit_lock import CommitLock
from kimi_tui.workspaces.left_workspace import LeftWorkspace
from kimi_tui.workspaces.open_record import OpenRecords, WorkspaceOwner
from kimi_tui.workspaces.overlay.bounds_check import find_bounds_problem, find_bubblewrap
from kimi_tui.workspaces.overlay.command_bounds import CommandBounds
from kimi_tui.workspaces.overlay.lasting_view import LastingView
from kimi_tui.workspaces.overlay.layer import remove_unused_layers
from kimi_tui.workspaces.overlay.layer_pool import LayerPool
from kimi_tui.workspaces.overlay.mounted_layer import MountedLayer
from kimi_tui.workspaces.overlay.overlay_workspace import OverlayWorkspace
from kimi_tui.workspaces.overlay.supervisor_client import Mode, SupervisorClient, ViewUnavailable
from kimi_tui.workspaces.overlay.write_limit import WriteLimit
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy
from kimi_tui.workspaces.view_roots import RootsUnsupported, find_covered_dirs, find_view_roots
from kimi_tui.workspaces.workspace import Backend, DirectWorkspace, Workspace

logger = logging.getLogger(__name__)

BackendChoice = Literal["auto", "overlayfs", "none"]
"""Setting of the user's. `auto` is the best backend that works here."""


@frozen(kw_only=True)
class WorkspaceStatus:
    """How commands run."""

    backend: Backend
    needs_privileges: bool = False
    """Whether the backend uses root's privileges; otherwise it uses a user namespace."""
    problem: str = ""
    """Why commands have no workspace; empty if they have one."""


class Workspaces:
    """Opens workspaces, with the best backend that this system supports."""

    def __init__(
        self,
        data_dir: Path,
        *,
        choice: BackendChoice = "auto",
        limit: WriteLimit = WriteLimit(),
        modes: Sequence[Mode] = (),
        platform: str = sys.platform,
    ) -> None:
        """Create the workspaces. `data_dir` contains records and layers, in `workspaces/`.

        `modes` are the ways to create views, best first; by default those that the user's privileges allow.
        Commands that write more than `limit` are ended.
        """
        self._data_dir = data_dir
        self._folder = data_dir / "workspaces"
        self._records = OpenRecords(self._folder)
        self._choice = choice
        self._limit = limit
        self._platform = platform
        self._modes: Sequence[Mode] = modes or (("root", "user") if os.geteuid() == 0 else ("user",))
        self._client: SupervisorClient | None = None
        self._pool: LayerPool | None = None
        """The layers of the running supervisor; None if there is none."""
        self._state_layers: dict[tuple[str, ...], StateLayers] = {}
        """The layers of states by their roots."""
        self._starting = asyncio.Lock()
        self._is_started = False
        self._is_closed = False
        self._checking_bounds = asyncio.Lock()
        self._bounds_problem: str | None = None
        self.problem = ""
        """Why the last workspace isn't private; empty if it is, or if none was opened."""

    @property
    def backend(self) -> Backend:
        """The backend that `start` chose. Even so, it may be unable to cover some working directories."""
        return "none" if self._client is None else "overlayfs"

    @property
    def is_switched_off(self) -> bool:
        """Whether the user turned workspaces off."""
        return self._choice == "none"

    async def start(self) -> None:
        """Start the backend, unless it is running or closed: `open` does that, too. Never raises."""
        async with self._starting:
            if self._is_closed:
                self.problem = msg("the session has ended")
                return
            if self._is_started and (self._client is None or self._client.is_running):
                return
            self._is_started = True
            await self._end()
            if self._choice == "none":
                self.problem = msg("workspaces are turned off")
            elif self._platform != "linux":
                self.problem = msg("workspaces require Linux")
            else:
                await self._start_supervisor()

    async def close(self) -> None:
        """End what `start` has started, also if it is still starting. Nothing starts from then on."""
        async with self._starting:
            self._is_closed = True
            await self._end()

    async def status(self, work_dir: Path, added_dirs: Sequence[Path] = ()) -> WorkspaceStatus:
        """Return how commands run in `work_dir`, found by opening a view of it."""
        mounted = await self._take_layer(work_dir, added_dirs)
        if mounted is None or self._pool is None or self._client is None:
            return WorkspaceStatus(backend="none", problem=self.problem)
        self._pool.give_back(mounted)
        return WorkspaceStatus(backend="overlayfs", needs_privileges=self._client.mode == "root")

    @asynccontextmanager
    async def open(
        self,
        work_dir: Path,
        *,
        added_dirs: Sequence[Path] = (),
        owner: WorkspaceOwner,
        bounds: SandboxPolicy | None = None,
        watched: Sequence[Path] = (),
    ) -> AsyncIterator[Workspace]:
        """Open a workspace for one or more commands. Leaving the block discards what isn't committed.

        With `bounds`, commands run under these limits: without capabilities, other processes, or a network
        unless the policy allows it. They see the files of the policy, and change only those of the view.
        `watched` are files whose opening the workspace's `report` lists.

        If the view can't be private or bounded, `is_private` is false, and commands change the working
        directory directly.
        """
        if bounds is not None and (problem := await self.find_bounds_problem()):
            self.problem = problem
            yield DirectWorkspace()
            return
        mounted = await self._take_layer(work_dir, added_dirs)
        if mounted is None or self._pool is None or self._client is None:
            yield DirectWorkspace()
            return
        pool, lock = self._pool, CommitLock(self._data_dir, work_dir)
        limits = None
        if bounds is not None:
            limits = CommandBounds(find_bubblewrap(), bounds, layer=mounted.layer, watched=watched)
        workspace = OverlayWorkspace(
            self._client, self._records, mounted, owner, lock, limits, limit=self._limit
        )
        try:
            yield workspace
        finally:
            pool.replace(workspace.discard_rest())

    @asynccontextmanager
    async def open_view(
        self,
        work_dir: Path,
        added_dirs: Sequence[Path] = (),
        *,
        prepared: StateLayer | None = None,
        bounds: SandboxPolicy | None = None,
    ) -> AsyncIterator[PrivateView]:
        """Open a workspace with the current files for one command. Leaving the block discards its changes.

        The view shows the `prepared` layer over the files. With `bounds`, the command runs under these limits
        where that is possible, as `is_bounded` says. Where there are no workspaces, the directories are
        copied, without the layer. Raises OSError if that fails.
        """
        if bounds is not None and await self.find_bounds_problem():
            bounds = None
        mounted = await self._take_layer(work_dir, added_dirs, prepared)
        pool = self._pool
        if mounted is not None and pool is not None and (view := mounted.take_view()) is not None:
            limits = None
            if bounds is not None:
                limits = CommandBounds(find_bubblewrap(), bounds, layer=mounted.layer, watched=())
            overlay = OverlayView(view, mounted, limits, limit=self._limit)
            try:
                yield overlay
            finally:
                overlay.close()
                if prepared is None:
                    pool.replace(mounted)
                else:
                    pool.discard(mounted)
            return
        roots = await asyncio.to_thread(find_covered_dirs, work_dir, added_dirs)
        copy = CopiedView()
        try:
            await run_in_thread_shielded(copy.add_roots, roots)
            yield copy
        finally:
            await run_in_thread_shielded(copy.remove)

    async def find_state_layers(self, work_dir: Path, added_dirs: Sequence[Path] = ()) -> StateLayers | None:
        """Return the layers that views can show over the current files; None if there can't be such views."""
        await self.start()
        if self._pool is None:
            return None
        try:
            roots = tuple(find_view_roots(work_dir, added_dirs))
        except (RootsUnsupported, OSError):
            return None
        if roots not in self._state_layers:
            self._state_layers[roots] = StateLayers(self._folder, self._records, roots)
        return self._state_layers[roots]

    @asynccontextmanager
    async def open_lasting_view(
        self, work_dir: Path, added_dirs: Sequence[Path] = (), *, bounds: SandboxPolicy | None = None
    ) -> AsyncIterator[LastingView]:
        """Open a workspace for several commands and for this process. Leaving the block discards changes.

        With `bounds`, commands run under these limits. Raises OSError, with the `problem`, if there can't be
        such a view.
        """
        if bounds is not None and (problem := await self.find_bounds_problem()):
            self.problem = problem
            raise OSError(problem)
        mounted = await self._take_layer(work_dir, added_dirs)
        if mounted is None or self._pool is None or self._client is None:
            raise OSError(self.problem)
        pool, view = self._pool, mounted.take_view()
        assert view is not None
        limits = None
        if bounds is not None:
            limits = CommandBounds(find_bubblewrap(), bounds, layer=mounted.layer, watched=())
        lasting = LastingView(self._client, mounted, view, limits, limit=self._limit)
        try:
            overlay = OverlayView(view, mounted, limit=self._limit)
            if not await asyncio.to_thread(overlay.is_reachable):
                self.problem = msg("this program can't read the files of a workspace")
                raise OSError(self.problem)
            yield lasting
        finally:
            lasting.close()
            pool.replace(mounted)

    async def find_bounds_problem(self) -> str:
        """Return why commands can't run in bounded workspaces; empty if they can."""
        await self.start()
        async with self._checking_bounds:
            if self._client is None:
                return self.problem
            if self._bounds_problem is None:
                self._bounds_problem = await find_bounds_problem(self._client)
            return self._bounds_problem

    async def left_by_killed_processes(self, work_dir: Path) -> list[LeftWorkspace]:
        """Return the workspaces of `work_dir` that killed processes left open, oldest first.

        Raises OSError.
        """
        lock = CommitLock(self._data_dir, work_dir)
        root = str(await asyncio.to_thread(work_dir.resolve))
        left = [
            LeftWorkspace(record, self._records, lock)
            for record in await asyncio.to_thread(self._records.left_by_killed_processes)
        ]
        return [workspace for workspace in left if workspace.covers(root)]

    def _remove_unused(self) -> None:
        unused = self._records.unused_folders()
        remove_unused_layers(self._folder, [folder.name for folder in unused])
        for folder in unused:
            self._records.remove_folder(folder)

    async def _start_supervisor(self) -> None:
        for mode in self._modes:
            client = SupervisorClient(mode)
            try:
                await client.start()
            except ViewUnavailable as error:
                self.problem = msg("namespaces can't be created: {reason}", reason=error)
            else:
                self._client, self.problem = client, ""
                self._pool = LayerPool(client, self._folder, self._records)
                with suppress(OSError):
                    await asyncio.to_thread(self._remove_unused)
                return

    async def _end(self) -> None:
        """Remove the layers, and end the supervisor."""
        if self._pool is not None:
            await self._pool.close()
            self._pool = None
        while self._state_layers:
            await asyncio.to_thread(self._state_layers.popitem()[1].close)
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _take_layer(
        self, work_dir: Path, added_dirs: Sequence[Path], prepared: StateLayer | None = None
    ) -> MountedLayer | None:
        """Return a mounted layer for a working directory, over `prepared` if there is such a layer.

        None, with `problem` set, if there can't be one.
        """
        await self.start()
        if self._pool is None:
            return None
        try:
            if prepared is not None:
                mounted = await self._pool.mount_over(prepared.folders)
            else:
                mounted = await self._pool.take(find_view_roots(work_dir, added_dirs))
        except RootsUnsupported as error:
            self.problem = str(error)
        except (ViewUnavailable, OSError) as error:
            self.problem = msg("the view can't be mounted: {reason}", reason=error)
        else:
            self.problem = ""
            return mounted
        logger.info("commands have no workspace: %s", self.problem)
        return None
