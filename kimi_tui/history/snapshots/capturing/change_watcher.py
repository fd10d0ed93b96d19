"""Change watcher: detects without a scan that nothing has changed since the last scan.

The system reports changes in watched directories when they are made. Only local file systems on Linux are
watched: on network file systems, other machines may change files. A program that writes through a memory map
is reported when it closes the file.
"""

import os
import re
import sys
from collections.abc import Sequence
from errno import EACCES, ELOOP, ENOENT, ENOTDIR
from pathlib import Path

from kimi_tui.history.snapshots.capturing.inotify import Inotify, moves_directories

_LOCAL = frozenset(
    ("bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "tmpfs", "xfs", "zfs")
)
"""Types of file systems that only this machine changes."""
_MOUNTS = Path("/proc/self/mountinfo")
_MAX_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
_SHARE = 4
"""Divisor of the user's limit of watches: a quarter is used at most, since other programs need them, too."""
_UNIMPORTANT = frozenset({EACCES, ENOENT, ENOTDIR, ELOOP})
"""Errors of directories that can't be read or were just replaced. Their parent directory reports these."""


class ChangeWatcher:
    """Watches the directories below some absolute paths. If that isn't possible, `is_quiet` returns False."""

    def __init__(self, starts: Sequence[str]) -> None:
        self._starts = starts
        self._is_possible = sys.platform == "linux"
        self._inotify: Inotify | None = None
        self._folders: set[str] = set()
        """The watched directories."""
        self._max_folders = 0
        self._identities: list[tuple[int, int]] = []
        """Device and inode of each start."""
        self._is_complete = False
        """Whether all directories are watched, and nothing was reported since the last scan began."""
        self._is_moved = False
        """Whether a watched directory may have another path now."""

    def begin_scan(self) -> None:
        """Forget earlier changes. The scan calls `watch` for each directory before reading the directory."""
        self._has_events()
        self._is_complete = False
        if self._is_moved:
            self.close()
        try:
            self._identities = self._identify_starts()
            if not _are_local(self._starts):
                self.close()
            elif self._inotify is None and self._is_possible:
                self._open()
        except (OSError, ValueError, AttributeError):
            self._give_up()

    def watch(self, folder: str) -> None:
        """Watch a directory, without its subdirectories."""
        if self._inotify is None or folder in self._folders:
            return
        self._folders.add(folder)
        try:
            self._inotify.watch(folder)
        except OSError as error:
            if error.errno not in _UNIMPORTANT:
                self._give_up()
        if len(self._folders) > self._max_folders:
            self._give_up()

    def finish_scan(self) -> None:
        """Record that the scan has looked at everything."""
        self._is_complete = self._inotify is not None

    def is_quiet(self) -> bool:
        """Return whether nothing has changed since the last scan began."""
        if self._is_complete:
            try:
                self._is_complete = (
                    not self._has_events()
                    and _are_local(self._starts)
                    and self._identities == self._identify_starts()
                )
            except (OSError, ValueError):
                self._is_complete = False
        return self._is_complete

    def close(self) -> None:
        """Stop watching until the next scan."""
        if self._inotify is not None:
            self._inotify.close()
        self._inotify, self._folders = None, set()
        self._is_complete = self._is_moved = False

    def _open(self) -> None:
        self._max_folders = int(_MAX_WATCHES.read_text()) // _SHARE
        self._inotify = Inotify()

    def _give_up(self) -> None:
        self._is_possible = False
        self.close()

    def _has_events(self) -> bool:
        if self._inotify is None:
            return False
        masks = list(self._inotify.read())
        self._is_moved |= any(map(moves_directories, masks))
        return bool(masks)

    def _identify_starts(self) -> list[tuple[int, int]]:
        infos = [Path(start).stat() for start in self._starts]
        return [(info.st_dev, info.st_ino) for info in infos]


def _are_local(starts: Sequence[str]) -> bool:
    """Return whether `starts` are on local file systems, without other file systems mounted below.

    Raises OSError, ValueError.
    """
    kinds: dict[str, str] = {}
    for line in _MOUNTS.read_text("utf-8", "surrogateescape").splitlines():
        fields, _, rest = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), fields.split(" ")[4])
        kinds[f"{point.rstrip('/')}/"] = rest.split(" ")[0]  # a later mount covers an earlier one
    for start in starts:
        real = f"{os.path.realpath(start)}/"
        holder = max((point for point in kinds if real.startswith(point)), key=len)
        if kinds[holder] not in _LOCAL or any(point.startswith(real) and point != real for point in kinds):
            return False
    return True
