"""File locks that the operating system releases when a process ends.

Some network file systems don't support them.
"""

import os
from pathlib import Path
from typing import Protocol


class Lock(Protocol):
    """Signature of a function that locks a file."""

    def __call__(self, file: int, *, shared: bool = False, waits: bool = False) -> None:
        """Lock the file until its descriptor is closed.

        Raises BlockingIOError if another process holds the lock, another OSError where locks aren't
        supported.
        """
        ...


def flock(file: int, *, shared: bool = False, waits: bool = False) -> None:
    """Lock a file with the system's `flock`; see `Lock`."""
    import fcntl  # missing on Windows; imported lazily so that the program can report that itself

    operation = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(file, operation if waits else operation | fcntl.LOCK_NB)


def process_mark() -> str:
    """Return a string that identifies this process on this machine, even if its id is reused later."""
    return _mark_for_pid(os.getpid())


def is_other_process_alive(mark: str) -> bool:
    """Return whether `mark` belongs to a running process other than this one."""
    number = mark.partition(" ")[0]
    if not number.isdecimal() or not (pid := int(number)) or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return _mark_for_pid(pid) == mark.strip()


def _mark_for_pid(pid: int) -> str:
    """Return the process id and, where the system provides it, the start time."""
    try:
        start_time = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return str(pid)
    return f"{pid} {start_time}"
