"""File locations (`docs/formats.md`)."""

import os
from pathlib import Path


def data_dir() -> Path:
    """Return the directory of config, sessions and logs: `KIMI_SHARE_DIR` or `~/.kimi-tui`.

    Doesn't create it.
    """
    override = os.environ.get("KIMI_SHARE_DIR")
    return Path(override).expanduser() if override else Path.home() / ".kimi-tui"


def sessions_dir(data_dir: Path) -> Path:
    """Return the directory of the sessions in a data directory.

    Kimi CLI, which may use the same data directory, keeps its own in `sessions`.
    """
    return data_dir / "tui-sessions"


def work_dir_key(work_dir: Path) -> str:
    """Return the directory name for a working directory's sessions and input history: the MD5 of its path."""
    import hashlib  # loads OpenSSL, which the first frame doesn't need

    return hashlib.md5(os.fsencode(work_dir), usedforsecurity=False).hexdigest()


def make_private_dir(path: Path) -> Path:
    """Create `path` and its missing parents with mode 0700, and return it."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    return path
