"""Layer with the view that writes to it, mounted before a command needs it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.workspaces.open_record import OpenRecords
from kimi_tui.workspaces.overlay.file_comparison import own_attributes
from kimi_tui.workspaces.overlay.layer import NOTHING_PREPARED, Layer
from kimi_tui.workspaces.overlay.supervisor_client import MountedView, SupervisorClient


class MountedLayer:
    """An empty layer and its view. Nothing has looked at the view yet, so it shows the current files."""

    def __init__(
        self,
        client: SupervisorClient,
        records: OpenRecords,
        layer: Layer,
        folder: Path,
        prepared: Mapping[str, str] = NOTHING_PREPARED,
    ) -> None:
        """Create it for `layer`. `folder` is for the record of the workspace that will use it.

        `prepared` has the layer below it by root.
        """
        self._client = client
        self._records = records
        self.layer = layer
        self.folder = folder
        self.prepared = prepared
        self._roots: list[_RootState] = []
        self._view: MountedView | None = None

    async def open(self) -> None:
        """Create the layer and mount the view. Raises ViewUnavailable and OSError."""
        self._roots = [_read_root(root) for root in self.layer.roots]
        self.layer.create()
        self._view = await self._client.mount(self.layer.spec(self.prepared))

    def is_current(self, roots: Sequence[str]) -> bool:
        """Return whether the view can be used for `roots`."""
        if self._view is None or self._view.has_ended or self.layer.roots != tuple(roots):
            return False
        try:
            return all(root == _read_root(root.path) for root in self._roots)
        except OSError:
            return False

    def take_view(self) -> MountedView | None:
        """Return the view for a first command; None from then on."""
        view, self._view = self._view, None
        return view

    def end_view(self) -> None:
        """End the view, if it wasn't taken."""
        if (view := self.take_view()) is not None:
            view.close()

    async def remove(self) -> None:
        """Unmount the view, and remove the layer and the record."""
        self.end_view()
        await run_in_thread_shielded(self._remove)

    def _remove(self) -> None:
        self._records.forget(self.folder)
        self.layer.remove()
        self._records.remove_folder(self.folder)


@frozen
class _RootState:
    """What a view and its layer have copied from a root, except for times."""

    path: str
    identity: tuple[int, int]
    """Device and inode."""
    mode: int
    owner: tuple[int, int]
    attributes: Mapping[str, bytes]


def _read_root(path: str) -> _RootState:
    info = os.stat(path)
    return _RootState(
        path, (info.st_dev, info.st_ino), info.st_mode, (info.st_uid, info.st_gid), own_attributes(path)
    )
