"""Lock that commits and reverts in a project hold while they write."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kimi_tui.base.paths import make_private_dir, work_dir_key
from kimi_tui.history.file_lock import flock


class CommitLock:
    """The lock in `store/<project>/reverts/`, shared with `PlanExecutor`. It blocks."""

    def __init__(self, data_dir: Path, work_dir: Path) -> None:
        self._folder = data_dir / "store" / work_dir_key(work_dir) / "reverts"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock, and hold it. Without support for locks, do nothing. Raises OSError."""
        make_private_dir(self._folder)
        file = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with suppress(OSError):
                flock(file, waits=True)
            yield
        finally:
            os.close(file)
