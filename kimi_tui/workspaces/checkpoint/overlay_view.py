"""Private view in a mount namespace."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kimi_tui.workspaces.checkpoint.private_view import PrivateTree
from kimi_tui.workspaces.command_process import CommandProcess
from kimi_tui.workspaces.overlay.supervisor_client import MountedView


class OverlayView:
    """A mounted view for one command. It is a `PrivateView`.

    Nothing is recorded about it: what a killed process leaves of it is removed at the next start.
    """

    is_copy = False

    def __init__(self, view: MountedView, roots: Sequence[str]) -> None:
        self._view = view
        self.tree = PrivateTree({root: f"{view.folder}{root}" for root in roots})
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
        await self._view.start_process(argv, cwd=cwd, environment=environment, output=output)
        return self._view

    def close(self) -> None:
        """Kill what still runs, and unmount the view."""
        self._view.close()
