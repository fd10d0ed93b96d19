"""Private view that lasts for several commands and the file tools between them."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from kimi_tui.workspaces.checkpoint.overlay_view import read_layer_changes
from kimi_tui.workspaces.checkpoint.private_view import ChangedPath
from kimi_tui.workspaces.command_process import CommandProcess
from kimi_tui.workspaces.overlay.command_bounds import CommandBounds, written_folders
from kimi_tui.workspaces.overlay.mounted_layer import MountedLayer
from kimi_tui.workspaces.overlay.supervisor_client import MountedView, SupervisorClient, ViewUnavailable
from kimi_tui.workspaces.overlay.write_limit import WriteGuard, WriteLimit

_END_GRACE_S = 0.5
"""How long processes that a command left may take to end."""


class LastingView:
    """A view in which commands run one after another. It is a `ProcessStarter` and a `ViewRoot`.

    This process reads and writes its files below `root`, also while a command runs. Nothing is recorded about
    it: what a killed process leaves of it is removed at the next start.
    """

    def __init__(
        self,
        client: SupervisorClient,
        mounted: MountedLayer,
        view: MountedView,
        bounds: CommandBounds | None = None,
        *,
        limit: WriteLimit,
    ) -> None:
        self._guard = WriteGuard(written_folders(mounted.layer, bounds), limit)
        self._client = client
        self._mounted = mounted
        self._view = view
        self._bounds = bounds

    @property
    def root(self) -> str:
        """Implement `ViewRoot.root`."""
        return self._view.folder

    @property
    def is_bounded(self) -> bool:
        """Whether commands run under the limits that the view was opened with."""
        return self._bounds is not None

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Implement `ProcessStarter.start_process`."""
        if self._view.pid or self._view.has_ended:
            await self._mount_again()
        if self._bounds is None:
            await self._view.start_process(argv, cwd=cwd, environment=environment, output=output)
        else:
            line, observation = await asyncio.to_thread(self._bounds.wrap_command, argv, cwd)
            await self._view.start_process(
                line,
                cwd=cwd,
                environment=self._bounds.filter_environment(environment),
                output=output,
                observation=observation,
            )
        self._guard.watch(self._view)
        return self._view

    @property
    def stop_reason(self) -> str:
        """Why the last command was ended before it was done; empty if it wasn't."""
        return self._guard.stop_reason

    async def finish(self) -> int:
        """Return how many processes the last command left running. They end before the next command.

        Raises OSError if the view was ended with the command, and can't be mounted again.
        """
        if self.stop_reason:
            await self._mount_again()
            return 0
        if not self._view.pid:
            return 0
        return (await self._view.find_end(_END_GRACE_S)).n_remaining

    def read_changes(self) -> list[ChangedPath]:
        """End the view, and return what differs from the real files. Blocks. Raises OSError."""
        return read_layer_changes(self._mounted)

    def close(self) -> None:
        """Kill what still runs, and unmount the view. Its changes can be read afterwards."""
        self._view.close()

    async def _mount_again(self) -> None:
        """Mount the layer again: a new view shows the real files as they are now. Raises OSError."""
        self._view.close()
        await self._view.wait_for_unmount()
        self._mounted.layer.allow_remount()
        try:
            self._view = await self._client.mount(self._mounted.layer.spec())
        except ViewUnavailable as error:
            raise OSError(str(error)) from error
