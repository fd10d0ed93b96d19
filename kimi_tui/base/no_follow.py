"""File access by resolved paths that follows no symbolic links, including links that were created later.

`O_NOFOLLOW` protects only the last component. A process that can rename a parent directory, such as a
sandboxed command, could redirect the path between the check and the use.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW_ANY: int = getattr(os, "O_NOFOLLOW_ANY", 0)
"""macOS flag: fail on a symbolic link in any component of the path."""
_STEP_FLAGS = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY) | _NOFOLLOW
_CAN_OPEN_STEPWISE = os.open in os.supports_dir_fd and not _NOFOLLOW_ANY


def open_no_follow(path: Path, flags: int, *, root: str = "") -> int:
    """Open `path`, which is absolute and resolved, and return a file descriptor.

    It is looked up below `root`, by default in this process's own root directory.

    Raises OSError, with ELOOP if a component is a symbolic link.
    """
    if not _CAN_OPEN_STEPWISE:
        return os.open(f"{root}{path}", flags | _NOFOLLOW | _NOFOLLOW_ANY)
    with _open_stepwise(path.parent, root=root) as folder:
        return os.open(path.name or ".", flags | _NOFOLLOW, dir_fd=folder)


class NoFollowDir:
    """An open directory in which files are created and renamed, even if its path changes."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor
        """None on systems without operations relative to a directory descriptor."""

    def create(self, name: str, mode: int) -> int:
        """Create a file and return a descriptor for writing. Raises OSError, also if the file exists."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | _NOFOLLOW
        return os.open(self._path_of(name), flags, mode, dir_fd=self._descriptor)

    def open_existing(self, name: str) -> int:
        """Open a file for reading and writing and return its descriptor. Raises OSError."""
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | _NOFOLLOW
        return os.open(self._path_of(name), flags, dir_fd=self._descriptor)

    def replace(self, name: str, other: str) -> None:
        """Rename the file `name` to `other`, replacing an existing file. Raises OSError."""
        os.replace(
            self._path_of(name),
            self._path_of(other),
            src_dir_fd=self._descriptor,
            dst_dir_fd=self._descriptor,
        )

    def remove(self, name: str) -> None:
        """Remove a file. Raises OSError."""
        os.unlink(self._path_of(name), dir_fd=self._descriptor)

    def sync(self) -> None:
        """Flush renames to disk, where the system supports it."""
        with suppress(OSError):
            descriptor = os.open(self._path_of("."), os.O_RDONLY, dir_fd=self._descriptor)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _path_of(self, name: str) -> str:
        return name if self._descriptor is not None else str(self._path / name)


@contextmanager
def open_no_follow_dir(path: Path, *, create: bool = False, root: str = "") -> Iterator[NoFollowDir]:
    """Open the directory `path`, which is absolute and resolved. `create` creates missing directories.

    It is looked up below `root`, by default in this process's own root directory.

    Raises OSError, with ELOOP if a component is a symbolic link.
    """
    if os.open in os.supports_dir_fd:
        with _open_stepwise(path, create=create, root=root) as descriptor:
            yield NoFollowDir(path, descriptor)
    else:
        if create:
            path.mkdir(parents=True, exist_ok=True)
        yield NoFollowDir(path, None)


@contextmanager
def _open_stepwise(path: Path, *, create: bool = False, root: str = "") -> Iterator[int]:
    """Yield a descriptor of the directory `path`, opened component by component."""
    folder = os.open(root, _STEP_FLAGS & ~_NOFOLLOW) if root else os.open(path.anchor, _STEP_FLAGS)
    try:
        for name in path.parts[1:]:
            child = _open_child(name, folder, create=create)
            os.close(folder)
            folder = child
        yield folder
    finally:
        os.close(folder)


def _open_child(name: str, folder: int, *, create: bool) -> int:
    if create:
        with suppress(FileExistsError):
            if not _exists(name, folder):
                os.mkdir(name, dir_fd=folder)
    try:
        return os.open(name, _STEP_FLAGS, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
