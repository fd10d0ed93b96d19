"""Open folders: the folders of a work dir, held by descriptors that no link on the way led to."""

import os
import stat
from collections import OrderedDict
from collections.abc import Collection
from errno import ELOOP, ENOTDIR
from pathlib import Path
from types import TracebackType
from typing import Self

_START = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_AT_ONCE = 32
"""So many are held; a process may have 256 files open on some systems."""


class Refused(Exception):
    """A path can't be changed; the text says why."""


class OpenFolders:
    """The folders below one work dir and below those that were `added`. They are closed when a block ends."""

    def __init__(self, root: Path, *, added: Collection[str] = ()) -> None:
        self._root = str(root)
        self._added = added
        self._open: OrderedDict[str, int] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._open:
            os.close(self._open.popitem()[1])

    def place(self, path: str) -> tuple[int, str]:
        """The folder that `path` lies in, good until the next call, and the name there.

        Raises Refused when it isn't below the work dir or a link is on the way, FileNotFoundError and
        NotADirectoryError when there can be nothing at `path`, and OSError.
        """
        start, within = "", path
        if path.startswith("/"):
            start, _, within = path.partition("//")
        if not is_inside(within) or (start and start not in self._added):
            raise Refused("it is not in the work dir")
        folder, _, name = within.rpartition("/")
        return self._folder(start, folder), name

    def forget(self, path: str) -> None:
        """A folder was removed: what comes to be at `path` is another one."""
        for held in [held for held in self._open if f"{held}/".startswith(f"{path}/")]:
            os.close(self._open.pop(held))

    def _folder(self, start: str, folder: str) -> int:
        whole = f"{start}//{folder}" if start else folder
        if (held := self._open.get(whole)) is not None:
            self._open.move_to_end(whole)
            return held
        if folder:
            parent, _, name = folder.rpartition("/")
            opened = _opened(name, self._folder(start, parent), folder)
        else:
            opened = os.open(start or self._root, _START)
        self._open[whole] = opened
        if len(self._open) > _AT_ONCE:
            os.close(self._open.popitem(last=False)[1])
        return opened


def is_inside(path: str) -> bool:
    """Whether a relative path stays below where it starts."""
    return bool(path) and not path.startswith("/") and not {"", ".", ".."} & set(path.split("/"))


def _opened(name: str, parent: int, path: str) -> int:
    try:
        return os.open(name, _START | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        if error.errno in {ELOOP, ENOTDIR} and stat.S_ISLNK(
            os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        ):
            raise Refused(f"{path} is no folder any more") from error
        raise
