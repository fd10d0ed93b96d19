"""Workspaces of a session: chooses the backend and opens workspaces."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from kimi_tui.workspaces.open_record import OpenRecords, WorkspaceOwner
from kimi_tui.workspaces.workspace import Backend, DirectWorkspace, Workspace

BackendChoice = Literal["auto", "overlayfs", "none"]
"""Setting of the user's. `auto` is the best backend that works here."""


class Workspaces:
    """Opens workspaces, with the best backend that this system supports."""

    def __init__(self, data_dir: Path, *, choice: BackendChoice = "auto") -> None:
        """Create the workspaces. `data_dir` contains records and layers, in `workspaces/`."""
        self._records = OpenRecords(data_dir / "workspaces")
        self._choice = choice
        self.backend: Backend = "none"
        self.problem = ""
        """Why no private backend is used; empty before `start`, or if one is used."""

    async def start(self) -> None:
        """Choose the backend. Never raises: without a private backend, `problem` says why."""
        self.problem = (
            "Private views are switched off." if self._choice == "none" else "They aren't supported here."
        )

    async def close(self) -> None:
        """End what `start` has started."""

    @asynccontextmanager
    async def open(
        self, work_dir: Path, *, added_dirs: Sequence[Path] = (), owner: WorkspaceOwner
    ) -> AsyncIterator[Workspace]:
        """Open a workspace for one or more commands. Leaving the block discards what isn't committed.

        If the view can't be private, `is_private` is false and commands change the work dir directly.
        """
        yield DirectWorkspace()
