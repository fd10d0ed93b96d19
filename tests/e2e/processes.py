"""State of processes, from `/proc`."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_BUSY_STATES = {"R", "D"}
"""States of a thread that runs or is runnable, and of one that waits for a disk."""
_PROCESS_GONE = (FileNotFoundError, ProcessLookupError)


def is_alive(pid: int) -> bool:
    """Return whether a process runs. A zombie doesn't count."""
    try:
        os.kill(pid, 0)
        return not Path("/proc").is_dir() or _state(Path(f"/proc/{pid}")) != "Z"
    except _PROCESS_GONE:
        return False


def is_busy(pid: int) -> bool:
    """Return whether a process or one of its descendants is busy. Always False without `/proc`."""
    for thread in _threads(pid):
        with suppress(*_PROCESS_GONE):
            if _state(thread) in _BUSY_STATES:
                return True
            if any(is_busy(int(child)) for child in (thread / "children").read_text().split()):
                return True
    return False


def _threads(pid: int) -> Iterator[Path]:
    with suppress(*_PROCESS_GONE):
        yield from Path(f"/proc/{pid}/task").iterdir()


def _state(directory: Path) -> str:
    return (directory / "stat").read_text().rpartition(")")[2].split()[0]
