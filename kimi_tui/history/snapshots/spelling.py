"""Spelling: what a path is called where a file system takes several names for one, as macOS' does.

There `readme.md` leads to `README.md`, and a letter with an accent has two forms. What a tool calls a file,
or what it was called before it was renamed, is then no other file, and must not be taken for one.
"""

import contextlib
import os
import sys
import unicodedata
from collections.abc import Callable
from itertools import islice

from kimi_tui.history.snapshots.entry import on_disk

_ENOUGH = 100
"""So many names are looked at for one that has a letter."""


class Spelling:
    """The names by which folders list what paths lead to, during one look below the work dir at `root`."""

    def __init__(self, root: str, *, inode_of: Callable[[str], int | None] | None = None) -> None:
        self._root = root
        self._inode_of = inode_of or _inode_of
        self._is_needed: dict[str, bool] = {}
        self._listed: dict[str, dict[str, int]] = {}

    def of(self, path: str) -> str:
        """`path` as it is listed; as it is, where nothing is there or a name is a name."""
        start, _, within = path.partition("//") if path.startswith("/") else ("", "", path)
        folder = f"{start}/" if start else ""
        if folder not in self._is_needed:
            self._is_needed[folder] = self._takes_several(folder)
        if not self._is_needed[folder]:
            return path
        names = within.split("/")
        for number, name in enumerate(names):
            listed = self._name(folder, name)
            if listed is None:
                return _joined(folder, "/".join(names[number:]))
            folder = _joined(folder, listed)
        return folder

    def _name(self, folder: str, name: str) -> str | None:
        """What `folder` lists for a name; None when it leads nowhere."""
        names = self._names(folder)
        if name in names:
            return name
        inode = self._inode_of(on_disk(self._root, _joined(folder, name)))
        same = [other for other in names if names[other] == inode]
        return min(same, key=lambda other: _folded(other) != _folded(name), default=None)

    def _takes_several(self, folder: str) -> bool:
        """Whether what is in a folder is found by names of another case, too."""
        with contextlib.suppress(OSError), os.scandir(on_disk(self._root, folder)) as entries:
            for entry in islice(entries, _ENOUGH):
                if (other := entry.name.swapcase()) != entry.name:
                    return self._inode_of(on_disk(self._root, _joined(folder, other))) == entry.inode()
        return sys.platform == "darwin"

    def _names(self, folder: str) -> dict[str, int]:
        if folder not in self._listed:
            try:
                with os.scandir(on_disk(self._root, folder)) as entries:
                    self._listed[folder] = {entry.name: entry.inode() for entry in entries}
            except OSError:
                self._listed[folder] = {}
        return self._listed[folder]


def _inode_of(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except (OSError, ValueError):
        return None


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
