"""Work file system that runs an action in the middle of a revert."""

from collections.abc import Callable

from kimi_tui.history.snapshots.work_filesystem import LocalWorkFileSystem


class DisturbedWorkFileSystem(LocalWorkFileSystem):
    """Runs an action after one of its renames or removals."""

    def __init__(self) -> None:
        self.action: Callable[[], None] | None = None
        self.remaining = 0

    def arm(self, after: int, action: Callable[[], None]) -> None:
        self.remaining, self.action = after, action

    def _count(self) -> None:
        if self.action is not None:
            self.remaining -= 1
            if self.remaining < 0:
                action, self.action = self.action, None
                action()

    def rename(self, folder: int, old: str, new: str) -> None:
        super().rename(folder, old, new)
        self._count()

    def move(self, folder: int, old: str, new_folder: int, new: str) -> None:
        super().move(folder, old, new_folder, new)
        self._count()

    def unlink(self, folder: int, name: str) -> None:
        super().unlink(folder, name)
        self._count()
