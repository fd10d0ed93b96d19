"""File locks that the operating system releases when a process ends.

Some network file systems don't support file locks.
"""

from typing import Protocol


class Lock(Protocol):
    """Signature of a function that locks a file."""

    def __call__(self, file: int, *, shared: bool = False, waits: bool = False) -> None:
        """Lock the file until its descriptor is closed.

        Several processes can hold a `shared` lock. With `waits`, block until the lock is free. Raises
        BlockingIOError if another process holds the lock, another OSError if locks aren't supported.
        """
        ...


def flock(file: int, *, shared: bool = False, waits: bool = False) -> None:
    """Lock a file with the system's `flock`; see `Lock`."""
    import fcntl  # missing on Windows; imported lazily so that the program can report this

    operation = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(file, operation if waits else operation | fcntl.LOCK_NB)
