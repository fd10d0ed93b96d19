"""File system calls behind an interface, and atomic file operations built on them.

With the interface, tests can make any call fail, or kill the process during the call.
"""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
APPEND_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
TEMPORARY_SUFFIX = ".new"
"""Suffix of a file that will be renamed once it is complete."""
_CHUNK = 1 << 20
_NO_SUCH_CALL = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


class FileSystem(Protocol):
    """The file system calls. Each raises OSError."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file, created with access for the owner only; return its descriptor."""
        ...

    def write(self, file: int, data: memoryview) -> int:
        """Write a part of `data`; return the number of bytes written."""
        ...

    def fsync(self, file: int) -> None:
        """Return once all written data is on disk."""
        ...

    def truncate(self, file: int, size: int) -> None:
        """Truncate the file to `size` bytes."""
        ...

    def close(self, file: int) -> None:
        """Close the descriptor."""
        ...

    def link(self, existing: Path, name: Path) -> None:
        """Create a hard link `name`, which must not exist yet."""
        ...

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file. An existing file `new` is replaced."""
        ...

    def unlink(self, path: Path) -> None:
        """Remove a file."""
        ...


class LocalFileSystem:
    """The calls of the operating system."""

    def open(self, path: Path, flags: int) -> int:
        """Implement `FileSystem.open`."""
        return os.open(path, flags, 0o600)

    def write(self, file: int, data: memoryview) -> int:
        """Implement `FileSystem.write`."""
        return os.write(file, data)

    def fsync(self, file: int) -> None:
        """Implement `FileSystem.fsync`. Does nothing on file systems that don't support it."""
        try:
            os.fsync(file)
        except OSError as error:
            if error.errno not in _NO_SUCH_CALL:
                raise

    def truncate(self, file: int, size: int) -> None:
        """Implement `FileSystem.truncate`."""
        os.ftruncate(file, size)

    def close(self, file: int) -> None:
        """Implement `FileSystem.close`."""
        os.close(file)

    def link(self, existing: Path, name: Path) -> None:
        """Implement `FileSystem.link`."""
        os.link(existing, name)

    def rename(self, old: Path, new: Path) -> None:
        """Implement `FileSystem.rename`."""
        old.rename(new)

    def unlink(self, path: Path) -> None:
        """Implement `FileSystem.unlink`."""
        path.unlink()


LOCAL_FILE_SYSTEM = LocalFileSystem()


class SupportsWrite(Protocol):
    """Anything that can write to a file descriptor."""

    def write(self, file: int, data: memoryview) -> int:
        """Write a part of `data`; return the number of bytes written."""
        ...


def write_all(fs: SupportsWrite, file: int, data: bytes | bytearray) -> None:
    """Write all of `data`. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[fs.write(file, rest) :]


def write_temporary(fs: FileSystem, path: Path, chunks: Iterable[bytes]) -> Path:
    """Write and sync a temporary file that can be renamed to `path`; return its path. Raises OSError."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    file = fs.open(temporary, CREATE_FLAGS)
    try:
        try:
            for chunk in chunks:
                write_all(fs, file, chunk)
            fs.fsync(file)
        finally:
            fs.close(file)
    except OSError:
        discard(fs, temporary)
        raise
    return temporary


def replace_file(fs: FileSystem, path: Path, chunks: Iterable[bytes]) -> None:
    """Replace the file at `path` atomically. Raises OSError."""
    temporary = write_temporary(fs, path, chunks)
    try:
        fs.rename(temporary, path)
    except OSError:
        discard(fs, temporary)
        raise
    sync_folder(fs, path.parent)


def sync_folder(fs: FileSystem, folder: Path) -> None:
    """Sync a directory, so that new and renamed files survive a crash. Errors are ignored."""
    with contextlib.suppress(OSError):
        file = fs.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fs.fsync(file)
        finally:
            fs.close(file)


def discard(fs: FileSystem, path: Path) -> None:
    """Remove a file that is no longer needed. Errors are ignored."""
    with contextlib.suppress(OSError):
        fs.unlink(path)


def read_range(path: Path, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a file from `start` up to `end` in chunks. Raises OSError."""
    left = end - start
    if left <= 0:
        return
    with path.open("rb") as file:
        file.seek(start)
        while left > 0 and (chunk := file.read(min(left, _CHUNK))):
            left -= len(chunk)
            yield chunk
