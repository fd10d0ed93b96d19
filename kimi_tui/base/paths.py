"""Where things lie on disk (`docs/formats.md`)."""

import os
from pathlib import Path


def share_dir() -> Path:
    """The folder of config, sessions and logs: `KIMI_SHARE_DIR`, else `~/.kimi-tui`. Not created here."""
    override = os.environ.get("KIMI_SHARE_DIR")
    return Path(override).expanduser() if override else Path.home() / ".kimi-tui"


def work_dir_key(work_dir: Path) -> str:
    """The name under which a work dir's sessions and input history are kept: the MD5 of its path."""
    import hashlib  # it loads OpenSSL, which the first frame needs nothing of

    return hashlib.md5(os.fsencode(work_dir), usedforsecurity=False).hexdigest()


def make_private_dir(path: Path) -> Path:
    """Create `path` and its missing parents, for the owner alone (0700)."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    return path
