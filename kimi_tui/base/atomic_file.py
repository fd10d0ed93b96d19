"""Atomic replacement of small private files."""

import contextlib
import os
from pathlib import Path

from kimi_tui.base.ids import new_uid
from kimi_tui.base.paths import make_private_dir


def write_private_atomic(path: Path, content: str) -> None:
    """Write `content` to `path` atomically with mode 0600.

    Creates missing directories and follows symbolic links. A reader sees either the old or the new content.
    Raises OSError.
    """
    path = path.resolve()
    make_private_dir(path.parent)
    temporary = path.with_name(f".{path.name}.{new_uid()}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(content.encode())
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
