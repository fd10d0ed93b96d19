"""System calls that change the working directory, behind an interface.

The calls refer to a file by its name and the descriptor of its directory. If the directory is moved or
replaced by a link in the meantime, the calls still affect the original directory. As in `history.filesystem`,
tests can make each call fail.
"""

import os
from collections.abc import Callable
from functools import cache
from typing import Protocol

from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM

_OPEN_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkFileSystem(Protocol):
    """The system calls. Each raises OSError. `folder` and `file` are descriptors; names are in `folder`."""

    def create(self, folder: int, name: str) -> int:
        """Create a file that must not exist yet, with access for the owner only; return its descriptor."""
        ...

    def open_existing(self, folder: int, name: str) -> int:
        """Open an existing file for reading and writing; return its descriptor."""
        ...

    def write(self, file: int, data: memoryview) -> int:
        """Write a part of `data`; return the number of bytes written."""
        ...

    def truncate(self, file: int, size: int) -> None:
        """Set the size of an open file."""
        ...

    def fsync(self, file: int) -> None:
        """Return once all data written to the file is on disk."""
        ...

    def can_sync(self) -> bool:
        """Return whether `sync` is supported."""
        ...

    def sync(self, file: int) -> None:
        """Return once all data written to the file system that contains `file` is on disk."""
        ...

    def close(self, file: int) -> None:
        """Close a descriptor."""
        ...

    def set_mode(self, file: int, mode: int) -> None:
        """Set the permission bits of an open file."""
        ...

    def rename(self, folder: int, old: str, new: str) -> None:
        """Rename a file or link within its directory. An existing file `new` is replaced."""
        ...

    def move(self, folder: int, old: str, new_folder: int, new: str) -> None:
        """Rename a file, link or directory, also into another directory."""
        ...

    def unlink(self, folder: int, name: str) -> None:
        """Remove a file or link."""
        ...

    def symlink(self, target: str, folder: int, name: str) -> None:
        """Create a symbolic link."""
        ...

    def mkdir(self, folder: int, name: str, mode: int) -> None:
        """Create a directory with these permission bits, reduced by the umask."""
        ...

    def rmdir(self, folder: int, name: str) -> None:
        """Remove an empty directory."""
        ...

    def chmod(self, folder: int, name: str, mode: int) -> None:
        """Set the permission bits of a file or directory, not of a link."""
        ...

    def set_owner(self, folder: int, name: str, owner: int, group: int) -> None:
        """Set the owner and group of a file or directory."""
        ...

    def set_extended_attribute(self, file: int, name: str, value: bytes) -> None:
        """Set an extended attribute of an open file or directory."""
        ...


class LocalWorkFileSystem:
    """The calls of the operating system."""

    def create(self, folder: int, name: str) -> int:
        """Implement `WorkFileSystem.create`."""
        return os.open(name, _CREATE_FLAGS, 0o600, dir_fd=folder)

    def open_existing(self, folder: int, name: str) -> int:
        """Implement `WorkFileSystem.open_existing`."""
        return os.open(name, _OPEN_FLAGS, dir_fd=folder)

    def write(self, file: int, data: memoryview) -> int:
        """Implement `WorkFileSystem.write`."""
        return os.write(file, data)

    def truncate(self, file: int, size: int) -> None:
        """Implement `WorkFileSystem.truncate`."""
        os.ftruncate(file, size)

    def fsync(self, file: int) -> None:
        """Implement `WorkFileSystem.fsync`."""
        LOCAL_FILE_SYSTEM.fsync(file)

    def can_sync(self) -> bool:
        """Implement `WorkFileSystem.can_sync`."""
        return _syncfs() is not None

    def sync(self, file: int) -> None:
        """Implement `WorkFileSystem.sync`."""
        if (call := _syncfs()) is not None:
            call(file)

    def close(self, file: int) -> None:
        """Implement `WorkFileSystem.close`."""
        os.close(file)

    def set_mode(self, file: int, mode: int) -> None:
        """Implement `WorkFileSystem.set_mode`."""
        os.fchmod(file, mode)

    def rename(self, folder: int, old: str, new: str) -> None:
        """Implement `WorkFileSystem.rename`."""
        os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)

    def move(self, folder: int, old: str, new_folder: int, new: str) -> None:
        """Implement `WorkFileSystem.move`."""
        os.rename(old, new, src_dir_fd=folder, dst_dir_fd=new_folder)

    def unlink(self, folder: int, name: str) -> None:
        """Implement `WorkFileSystem.unlink`."""
        os.unlink(name, dir_fd=folder)

    def symlink(self, target: str, folder: int, name: str) -> None:
        """Implement `WorkFileSystem.symlink`."""
        os.symlink(target, name, dir_fd=folder)

    def mkdir(self, folder: int, name: str, mode: int) -> None:
        """Implement `WorkFileSystem.mkdir`."""
        os.mkdir(name, mode, dir_fd=folder)

    def rmdir(self, folder: int, name: str) -> None:
        """Implement `WorkFileSystem.rmdir`."""
        os.rmdir(name, dir_fd=folder)

    def chmod(self, folder: int, name: str, mode: int) -> None:
        """Implement `WorkFileSystem.chmod`."""
        os.chmod(name, mode, dir_fd=folder)

    def set_owner(self, folder: int, name: str, owner: int, group: int) -> None:
        """Implement `WorkFileSystem.set_owner`."""
        os.chown(name, owner, group, dir_fd=folder, follow_symlinks=False)

    def set_extended_attribute(self, file: int, name: str, value: bytes) -> None:
        """Implement `WorkFileSystem.set_extended_attribute`."""
        os.setxattr(file, name, value)


LOCAL_WORK_FILE_SYSTEM = LocalWorkFileSystem()


@cache
def _syncfs() -> Callable[[int], None] | None:
    """Return `syncfs(2)` of Linux, since Python doesn't provide it; None on other systems."""
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
