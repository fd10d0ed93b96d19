"""Private view in a mount namespace."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kimi_tui.workspaces.checkpoint.private_view import ChangedPath, PrivateTree
from kimi_tui.workspaces.command_process import CommandProcess
from kimi_tui.workspaces.overlay.command_bounds import CommandBounds, written_folders
from kimi_tui.workspaces.overlay.layer_reader import LayerReader
from kimi_tui.workspaces.overlay.mounted_layer import MountedLayer
from kimi_tui.workspaces.overlay.supervisor_client import MountedView
from kimi_tui.workspaces.overlay.write_limit import WriteGuard, WriteLimit


class OverlayView:
    """A mounted view for one command. It is a `PrivateView`.

    Nothing is recorded about it: what a killed process leaves of it is removed at the next start.
    """

    is_copy = False

    def __init__(
        self,
        view: MountedView,
        mounted: MountedLayer,
        bounds: CommandBounds | None = None,
        *,
        limit: WriteLimit,
    ) -> None:
        layer = mounted.layer
        self._guard = WriteGuard(written_folders(layer, bounds), limit)
        self._view = view
        self._mounted = mounted
        self._bounds = bounds
        self.tree = PrivateTree({root: f"{view.folder}{root}" for root in layer.roots})
        """Implements `PrivateView.tree`."""

    def is_reachable(self) -> bool:
        """Return whether this process may write to the view, which is another file system than its roots."""
        try:
            return all(
                os.stat(private).st_dev != os.stat(root).st_dev for root, private in self.tree.folders.items()
            )
        except OSError:
            return False

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Implement `PrivateView.start_process`."""
        if self._bounds is None:
            await self._view.start_process(argv, cwd=cwd, environment=environment, output=output)
            self._guard.watch(self._view)
            return self._view
        line, observation = await asyncio.to_thread(self._bounds.wrap_command, argv, cwd)
        await self._view.start_process(
            line, cwd=cwd, environment=environment, output=output, observation=observation
        )
        self._guard.watch(self._view)
        return self._view

    @property
    def stop_reason(self) -> str:
        """Implement `PrivateView.stop_reason`."""
        return self._guard.stop_reason

    @property
    def is_bounded(self) -> bool:
        """Implement `PrivateView.is_bounded`."""
        return self._bounds is not None

    def begin(self) -> None:
        """Implement `PrivateView.begin`: the layer shows what changed."""

    def read_changes(self) -> list[ChangedPath]:
        """Implement `PrivateView.read_changes`. The view must be closed."""
        return read_layer_changes(self._mounted)

    def close(self) -> None:
        """Kill what still runs, and unmount the view."""
        self._view.close()


def read_layer_changes(mounted: MountedLayer) -> list[ChangedPath]:
    """Return what a layer without a view changes, sorted by path. Blocks. Raises OSError."""
    changes: dict[str, ChangedPath] = {}
    for view in mounted.layer.views(mounted.prepared):
        for effect in LayerReader(view, mounted.layer.mode, 0).read():
            if effect.after is None:
                changes[effect.path] = ChangedPath(effect.path, 0)
            else:
                source = effect.source or effect.link_to or effect.moved_from
                changes[effect.path] = ChangedPath(effect.path, effect.after.mode, source)
    return [changes[path] for path in sorted(changes)]
