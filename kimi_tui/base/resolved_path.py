"""Using a path that was resolved before, and judged as such: no link that has come into it since is followed.

`O_NOFOLLOW` guards the last name alone; whoever may rename a folder on the way, such as a command in a
sandbox, could turn all of it elsewhere between the look and the use.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW_ANY: int = getattr(os, "O_NOFOLLOW_ANY", 0)
"""macOS: no link in any part of the path."""
_STEP = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY) | _NOFOLLOW
_CAN_STEP = os.open in os.supports_dir_fd and not _NOFOLLOW_ANY


def open_resolved(path: Path, flags: int) -> int:
    """A descriptor of what is at `path`, absolute with links resolved. Raises OSError: ELOOP for a link."""
    if not _CAN_STEP:
        return os.open(path, flags | _NOFOLLOW | _NOFOLLOW_ANY)
    with _stepped_to(path.parent) as folder:
        return os.open(path.name or ".", flags | _NOFOLLOW, dir_fd=folder)


class ResolvedFolder:
    """A folder that stays the same one, whatever becomes of its path: for what is made and renamed in it."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor
        """None where systems know folders by their paths alone."""

    def create(self, name: str, mode: int) -> int:
        """A descriptor for writing of a file that wasn't there. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | _NOFOLLOW
        return os.open(self._at(name), flags, mode, dir_fd=self._descriptor)

    def replace(self, name: str, other: str) -> None:
        """Call the file `name` `other` from now on. Raises OSError."""
        os.replace(self._at(name), self._at(other), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Remove a file. Raises OSError."""
        os.unlink(self._at(name), dir_fd=self._descriptor)

    def sync(self) -> None:
        """Have what was renamed outlast a power cut, where that can be asked for."""
        with suppress(OSError):
            descriptor = os.open(self._at("."), os.O_RDONLY, dir_fd=self._descriptor)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else str(self._path / name)


@contextmanager
def resolved_folder(path: Path, *, make: bool = False) -> Iterator[ResolvedFolder]:
    """The folder at `path`, absolute with links resolved; with `make` its missing parts are made.

    Raises OSError: ELOOP for a link.
    """
    if os.open in os.supports_dir_fd:
        with _stepped_to(path, make=make) as descriptor:
            yield ResolvedFolder(path, descriptor)
    else:
        if make:
            path.mkdir(parents=True, exist_ok=True)
        yield ResolvedFolder(path, None)


@contextmanager
def _stepped_to(path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder at `path`, come to name by name."""
    folder = os.open(path.anchor, _STEP)
    try:
        for name in path.parts[1:]:
            below = _step(name, folder, make=make)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _step(name: str, folder: int, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            if not _is_there(name, folder):
                os.mkdir(name, dir_fd=folder)
    try:
        return os.open(name, _STEP, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def _is_there(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
