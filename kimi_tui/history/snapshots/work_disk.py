"""The work disk: the system calls that change a work dir.

They name a file by the descriptor of the folder that it lies in: whoever moves that folder, or puts a link in
its place meanwhile, leads them nowhere else. They are a collaborator for what `history.disk` says.
"""

import os
from collections.abc import Callable
from functools import cache
from typing import Protocol

from kimi_tui.history.disk import LOCAL_DISK

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkDisk(Protocol):
    """The calls; each raises OSError. `folder` and `file` are descriptors, names are of what lies in it."""

    def create(self, folder: int, name: str) -> int:
        """Make a file, for the owner alone, where nothing is; return its descriptor."""
        ...

    def write(self, file: int, data: memoryview) -> int:
        """Write some of `data`; return how much."""
        ...

    def fsync(self, file: int) -> None:
        """Return when what was written to a file is on the medium."""
        ...

    def can_sync(self) -> bool:
        """Whether there is a `sync`."""
        ...

    def sync(self, file: int) -> None:
        """Return when all that was written to the file system on which `file` lies is on the medium."""
        ...

    def close(self, file: int) -> None:
        """Close a descriptor."""
        ...

    def set_mode(self, file: int, mode: int) -> None:
        """Set the permission bits of an open file."""
        ...

    def rename(self, folder: int, old: str, new: str) -> None:
        """Rename a file or a link within its folder, over whatever has the new name."""
        ...

    def unlink(self, folder: int, name: str) -> None:
        """Take a file's or a link's name away."""
        ...

    def symlink(self, target: str, folder: int, name: str) -> None:
        """Make a symbolic link."""
        ...

    def mkdir(self, folder: int, name: str, mode: int) -> None:
        """Make a folder with these permission bits, as far as the umask lets it."""
        ...

    def rmdir(self, folder: int, name: str) -> None:
        """Remove an empty folder."""
        ...

    def chmod(self, folder: int, name: str, mode: int) -> None:
        """Set the permission bits of what is no link."""
        ...


class LocalWorkDisk:
    """The operating system's."""

    def create(self, folder: int, name: str) -> int:
        """`WorkDisk.create`."""
        return os.open(name, _NEW, 0o600, dir_fd=folder)

    def write(self, file: int, data: memoryview) -> int:
        """`WorkDisk.write`."""
        return os.write(file, data)

    def fsync(self, file: int) -> None:
        """`WorkDisk.fsync`."""
        LOCAL_DISK.fsync(file)

    def can_sync(self) -> bool:
        """`WorkDisk.can_sync`."""
        return _syncfs() is not None

    def sync(self, file: int) -> None:
        """`WorkDisk.sync`."""
        if (call := _syncfs()) is not None:
            call(file)

    def close(self, file: int) -> None:
        """`WorkDisk.close`."""
        os.close(file)

    def set_mode(self, file: int, mode: int) -> None:
        """`WorkDisk.set_mode`."""
        os.fchmod(file, mode)

    def rename(self, folder: int, old: str, new: str) -> None:
        """`WorkDisk.rename`."""
        os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)

    def unlink(self, folder: int, name: str) -> None:
        """`WorkDisk.unlink`."""
        os.unlink(name, dir_fd=folder)

    def symlink(self, target: str, folder: int, name: str) -> None:
        """`WorkDisk.symlink`."""
        os.symlink(target, name, dir_fd=folder)

    def mkdir(self, folder: int, name: str, mode: int) -> None:
        """`WorkDisk.mkdir`."""
        os.mkdir(name, mode, dir_fd=folder)

    def rmdir(self, folder: int, name: str) -> None:
        """`WorkDisk.rmdir`."""
        os.rmdir(name, dir_fd=folder)

    def chmod(self, folder: int, name: str, mode: int) -> None:
        """`WorkDisk.chmod`."""
        os.chmod(name, mode, dir_fd=folder)


LOCAL_WORK_DISK = LocalWorkDisk()


@cache
def _syncfs() -> Callable[[int], None] | None:
    """Linux' `syncfs(2)`, which Python has no function for."""
    import ctypes

    try:
        call = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return None

    def syncfs(file: int) -> None:
        if call(file) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return syncfs
