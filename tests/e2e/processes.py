"""What the system tells of processes."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_AT_WORK = {"R", "D"}
"""States of a thread that runs, or would if it got a processor, and of one that waits for a disk."""
_GONE = (FileNotFoundError, ProcessLookupError)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent doesn't."""
    try:
        os.kill(pid, 0)
        return not Path("/proc").is_dir() or _state(Path(f"/proc/{pid}")) != "Z"
    except _GONE:
        return False


def is_busy(pid: int) -> bool:
    """Whether a process, or one that it started, is at work; False where the system doesn't tell."""
    for thread in _threads(pid):
        with suppress(*_GONE):
            if _state(thread) in _AT_WORK:
                return True
            if any(is_busy(int(child)) for child in (thread / "children").read_text().split()):
                return True
    return False


def _threads(pid: int) -> Iterator[Path]:
    with suppress(*_GONE):
        yield from Path(f"/proc/{pid}/task").iterdir()


def _state(told: Path) -> str:
    return (told / "stat").read_text().rpartition(")")[2].split()[0]
