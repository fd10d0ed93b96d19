"""The disk: the system calls that change files here, and what is made of them.

They are a collaborator so that a test can let each of them fail, or kill the process there.
"""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
TEMPORARY = ".new"
"""The ending of a file that is written to be renamed."""
_CHUNK = 1 << 20
_NO_SUCH_CALL = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


class Disk(Protocol):
    """The calls; each raises OSError."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file, which is made for the owner alone; return its descriptor."""
        ...

    def write(self, file: int, data: memoryview) -> int:
        """Write some of `data`; return how much."""
        ...

    def fsync(self, file: int) -> None:
        """Return when what was written is on the medium."""
        ...

    def truncate(self, file: int, size: int) -> None:
        """Cut the file off after `size` bytes."""
        ...

    def close(self, file: int) -> None:
        """Close the descriptor."""
        ...

    def link(self, existing: Path, name: Path) -> None:
        """Give a file a second name, which must be free."""
        ...

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file over whatever has the new name."""
        ...

    def unlink(self, path: Path) -> None:
        """Take a file's name away."""
        ...


class LocalDisk:
    """The operating system's."""

    def open(self, path: Path, flags: int) -> int:
        """`Disk.open`."""
        return os.open(path, flags, 0o600)

    def write(self, file: int, data: memoryview) -> int:
        """`Disk.write`."""
        return os.write(file, data)

    def fsync(self, file: int) -> None:
        """`Disk.fsync`. A file system that knows no such thing has nothing to wait for."""
        try:
            os.fsync(file)
        except OSError as error:
            if error.errno not in _NO_SUCH_CALL:
                raise

    def truncate(self, file: int, size: int) -> None:
        """`Disk.truncate`."""
        os.ftruncate(file, size)

    def close(self, file: int) -> None:
        """`Disk.close`."""
        os.close(file)

    def link(self, existing: Path, name: Path) -> None:
        """`Disk.link`."""
        os.link(existing, name)

    def rename(self, old: Path, new: Path) -> None:
        """`Disk.rename`."""
        old.rename(new)

    def unlink(self, path: Path) -> None:
        """`Disk.unlink`."""
        path.unlink()


LOCAL_DISK = LocalDisk()


class CanWrite(Protocol):
    """What files are written with."""

    def write(self, file: int, data: memoryview) -> int:
        """`Disk.write`."""
        ...


def write_all(disk: CanWrite, file: int, data: bytes) -> None:
    """Write the whole of `data`. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[disk.write(file, rest) :]


def write_beside(disk: Disk, path: Path, chunks: Iterable[bytes]) -> Path:
    """Write a file to be renamed to `path`, down to the medium; return its name. Raises OSError."""
    beside = path.with_name(path.name + TEMPORARY)
    file = disk.open(beside, NEW_FILE)
    try:
        try:
            for chunk in chunks:
                write_all(disk, file, chunk)
            disk.fsync(file)
        finally:
            disk.close(file)
    except OSError:
        discard(disk, beside)
        raise
    return beside


def replace_file(disk: Disk, path: Path, chunks: Iterable[bytes]) -> None:
    """Put a file in the place of `path`, where at every instant one of them is whole. Raises OSError."""
    beside = write_beside(disk, path, chunks)
    try:
        disk.rename(beside, path)
    except OSError:
        discard(disk, beside)
        raise
    sync_folder(disk, path.parent)


def sync_folder(disk: Disk, folder: Path) -> None:
    """Let the names in `folder` reach the medium. File systems that can't are left alone."""
    with contextlib.suppress(OSError):
        file = disk.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            disk.fsync(file)
        finally:
            disk.close(file)


def discard(disk: Disk, path: Path) -> None:
    """Take away a file that is of no use any more, if that is possible."""
    with contextlib.suppress(OSError):
        disk.unlink(path)


def part_of(path: Path, start: int, end: int) -> Iterator[bytes]:
    """The bytes of a file from `start` up to `end`, in pieces. Raises OSError."""
    left = end - start
    if left <= 0:
        return
    with path.open("rb") as file:
        file.seek(start)
        while left > 0 and (chunk := file.read(min(left, _CHUNK))):
            left -= len(chunk)
            yield chunk
