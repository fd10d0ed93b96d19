"""Directory handles: descriptors of directories below the working directory, reached without links."""

import os
import stat
from collections import OrderedDict
from collections.abc import Collection
from errno import ELOOP, ENOTDIR
from pathlib import Path
from types import TracebackType
from typing import Self

from kimi_tui.base.message_text import msg

_OPEN_FLAGS = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_MAX_OPEN = 32
"""Maximum number of open descriptors. Some systems limit a process to 256 open files."""


class PathRejected(Exception):
    """A path that can't be changed; the message says why."""


class DirectoryHandles:
    """Open directories below `root` and the `added_dirs`. The end of a `with` block closes them."""

    def __init__(self, root: Path, *, added_dirs: Collection[str] = ()) -> None:
        self._root = str(root)
        self._added_dirs = added_dirs
        self._open: OrderedDict[str, int] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._open:
            os.close(self._open.popitem()[1])

    def open_parent(self, path: str) -> tuple[int, str]:
        """Return a descriptor of the directory of `path`, valid until the next call, and the file name.

        Raises PathRejected if the path leads out of its starting directory or contains a symbolic link,
        FileNotFoundError or NotADirectoryError if `path` can't exist, and OSError.
        """
        start, within = "", path
        if path.startswith("/"):
            start, _, within = path.partition("//")
        if not is_inside(within):
            raise PathRejected("not in the working directory")
        folder, _, name = within.rpartition("/")
        return self._folder(start, folder), name

    def open_parent_of_folder(self, path: str) -> tuple[int, str]:
        """Like `open_parent`, for a directory. For a starting directory, return its descriptor and ".".

        The path of a starting directory is empty, or that of the added directory with a slash at the end.
        """
        if path and not path.endswith("/"):
            return self.open_parent(path)
        return self._folder(path.removesuffix("/"), ""), "."

    def close_below(self, path: str) -> None:
        """Close the handles at and below `path`, which was removed: a new directory may take its place."""
        for folder in [folder for folder in self._open if f"{folder}/".startswith(f"{path}/")]:
            os.close(self._open.pop(folder))

    def _folder(self, start: str, folder: str) -> int:
        key = f"{start}//{folder}" if start else folder
        if (handle := self._open.get(key)) is not None:
            self._open.move_to_end(key)
            return handle
        if folder:
            parent, _, name = folder.rpartition("/")
            handle = _open_child(name, self._folder(start, parent), folder)
        elif start and start not in self._added_dirs:
            handle = _open_without_links(start)
        else:
            handle = os.open(start or self._root, _OPEN_FLAGS)
        self._open[key] = handle
        if len(self._open) > _MAX_OPEN:
            os.close(self._open.popitem(last=False)[1])
        return handle


def is_inside(path: str) -> bool:
    """Return whether a relative path stays below its starting directory."""
    return bool(path) and not path.startswith("/") and not {"", ".", ".."} & set(path.split("/"))


def _open_without_links(path: str) -> int:
    """Open the directory of a file outside `root` and the added directories.

    Raises PathRejected if the path contains a symbolic link: it had none when a tool wrote the file.
    """
    handle = os.open("/", _OPEN_FLAGS)
    for name in path.strip("/").split("/"):
        try:
            child = _open_child(name, handle, path)
        finally:
            os.close(handle)
        handle = child
    return handle


def _open_child(name: str, parent: int, path: str) -> int:
    try:
        return os.open(name, _OPEN_FLAGS | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        if error.errno in {ELOOP, ENOTDIR} and stat.S_ISLNK(
            os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        ):
            raise PathRejected(msg("{path} is no longer a directory", path=path)) from error
        raise
