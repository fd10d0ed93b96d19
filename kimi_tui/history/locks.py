"""Locks of files, of which the system lets go when a process ends; some network file systems have none."""

import os
from pathlib import Path
from typing import Protocol


class Lock(Protocol):
    """How a file is locked."""

    def __call__(self, file: int, *, shared: bool = False, waits: bool = False) -> None:
        """Lock the file until its descriptor is closed.

        Raises BlockingIOError when somebody else has it, another OSError where there are no locks.
        """
        ...


def flock(file: int, *, shared: bool = False, waits: bool = False) -> None:
    """The system's."""
    import fcntl  # Windows has none, and is told so where it is needed

    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(file, how if waits else how | fcntl.LOCK_NB)


def own_mark() -> str:
    """What tells this process from others, also from a later one of the same number, on this machine."""
    return _mark_of(os.getpid())


def runs_elsewhere(mark: str) -> bool:
    """Whether the process with that mark runs, and is another one than this."""
    number = mark.partition(" ")[0]
    if not number.isdecimal() or not (pid := int(number)) or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return _mark_of(pid) == mark.strip()


def _mark_of(pid: int) -> str:
    """Its number and, where the system tells, when it began."""
    try:
        began = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return str(pid)
    return f"{pid} {began}"
