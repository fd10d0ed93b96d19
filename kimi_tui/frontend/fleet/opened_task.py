"""Sessions of a fleet's tasks."""

from pathlib import Path
from typing import Protocol

from kimi_tui.base.frozen import frozen


@frozen(kw_only=True)
class OpenedTask:
    """Session of a task."""

    session_id: str
    work_dir: Path
    data_dir: Path | None = None
    """Data directory of the running attempt. None if the session is in the user's data directory."""

    @property
    def is_running(self) -> bool:
        """Whether the task is still running. The session of a running task is read-only."""
        return self.data_dir is not None


class FleetTaskOpener(Protocol):
    """Opens tasks as sessions."""

    def open_task(self, database: Path, task_id: str) -> OpenedTask:
        """Return the session of a task. If the task is done, restore its session first.

        Blocks. Raises KimiTuiError.
        """
        ...
