"""Permissions of the data directory."""

import contextlib
import os
import stat
from itertools import chain
from pathlib import Path

_FOLDERS = (
    "agents",
    "credentials",
    "drafts",
    "logs",
    "plans",
    "sessions",
    "store",
    "tui-sessions",
    "user-history",
)
_FILES = ("config.*", "credentials.json", "*.db", "*.db-*", "mcp.json", "trusted.json")


def restrict_permissions(data_dir: Path) -> None:
    """Remove all access of other users to the private files in `data_dir`.

    The mode of `data_dir` itself is unchanged, because it can be any directory. Symbolic links and files of
    other users are skipped, and errors are ignored.
    """
    files = chain.from_iterable(data_dir.glob(pattern) for pattern in _FILES)
    for path in (*(data_dir / name for name in _FOLDERS), *files):
        with contextlib.suppress(OSError):
            status = path.lstat()
            is_own = status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode)
            if is_own and status.st_mode & 0o077:
                path.chmod(stat.S_IMODE(status.st_mode) & 0o700)
