"""The share dir's rights: what a copy, an editor or a careless umask left open is for its owner alone."""

import contextlib
import os
import stat
from itertools import chain
from pathlib import Path

_FOLDERS = ("agents", "credentials", "drafts", "logs", "plans", "sessions", "store", "user-history")
_FILES = ("config.*", "credentials.json", "mcp.json", "trusted.json")


def take_rights_from_others(share_dir: Path) -> None:
    """Let nobody but the owner read what is in `share_dir`. The folder itself, which may be any, stays.

    Links and what belongs to somebody else stay as they are, and so does what can't be changed.
    """
    files = chain.from_iterable(share_dir.glob(pattern) for pattern in _FILES)
    for path in (*(share_dir / name for name in _FOLDERS), *files):
        with contextlib.suppress(OSError):
            found = path.lstat()
            is_ours = found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode)
            if is_ours and found.st_mode & 0o077:
                path.chmod(stat.S_IMODE(found.st_mode) & 0o700)
