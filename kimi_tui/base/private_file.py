"""Replacing a small file whole: at every instant it is the old one or the new one, for the owner alone."""

import contextlib
import os
from pathlib import Path

from kimi_tui.base.identity import new_uid
from kimi_tui.base.paths import make_private_dir


def replace_private_file(path: Path, content: str) -> None:
    """Make `content` the text of `path` (0600); missing folders are made, links stay. Raises OSError."""
    path = path.resolve()
    make_private_dir(path.parent)
    fresh = path.with_name(f".{path.name}.{new_uid()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(content.encode())
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise
