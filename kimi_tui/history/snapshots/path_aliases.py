"""Path aliases: different names for one file, on case-insensitive or normalizing file systems as on macOS.

On such file systems, `readme.md` refers to `README.md`, and accented letters have two forms. The name that a
tool uses, or the name from before a rename, may be another name of a known file. Such a name must not be
treated as another file.
"""

import contextlib
import os
import sys
import unicodedata
from itertools import islice

from kimi_tui.history.snapshots.entry import absolute_path

_MAX_NAMES_CHECKED = 100
"""Number of names checked for one that contains a letter."""


class PathAliases:
    """Resolves paths below `root` to the names listed in their directories.

    Create a new object for each scan, since the listings are cached.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._is_needed: dict[str, bool] = {}
        self._listings: dict[str, dict[str, int]] = {}

    def canonical(self, path: str) -> str:
        """Return `path` as listed by its directories; unchanged if it doesn't exist or can't have aliases."""
        start, _, within = path.partition("//") if path.startswith("/") else ("", "", path)
        folder = f"{start}/" if start else ""
        if folder not in self._is_needed:
            self._is_needed[folder] = self._is_case_insensitive(folder)
        if not self._is_needed[folder]:
            return path
        names = within.split("/")
        for number, name in enumerate(names):
            listed = self._listed_name(folder, name)
            if listed is None:
                return _join(folder, "/".join(names[number:]))
            folder = _join(folder, listed)
        return folder

    def inode_of(self, path: str) -> int | None:
        """Return the inode at an absolute path; None if nothing exists there."""
        try:
            return os.lstat(path).st_ino
        except (OSError, ValueError):
            return None

    def _listed_name(self, folder: str, name: str) -> str | None:
        """Return the name in the listing of `folder` that `name` refers to; None if it doesn't exist."""
        names = self._folder_listing(folder)
        if name in names:
            return name
        inode = self.inode_of(absolute_path(self._root, _join(folder, name)))
        same = [other for other in names if names[other] == inode]
        return min(same, key=lambda other: _fold_name(other) != _fold_name(name), default=None)

    def _is_case_insensitive(self, folder: str) -> bool:
        """Return whether a directory ignores case when it looks up a name."""
        with contextlib.suppress(OSError), os.scandir(absolute_path(self._root, folder)) as entries:
            for entry in islice(entries, _MAX_NAMES_CHECKED):
                if (other := entry.name.swapcase()) != entry.name:
                    return self.inode_of(absolute_path(self._root, _join(folder, other))) == entry.inode()
        return sys.platform == "darwin"

    def _folder_listing(self, folder: str) -> dict[str, int]:
        if folder not in self._listings:
            try:
                with os.scandir(absolute_path(self._root, folder)) as entries:
                    self._listings[folder] = {entry.name: entry.inode() for entry in entries}
            except OSError:
                self._listings[folder] = {}
        return self._listings[folder]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
