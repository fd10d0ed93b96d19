"""Replacing a file's content in one instant: whoever reads it sees the old one or the new one, whole."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.resolved_path import ResolvedFolder, resolved_folder
from kimi_tui.tools.file.ledger import FileVersion, version_of
from kimi_tui.tools.file.regular import Content, file_problem, load
from kimi_tui.tools.workspace import Located

MAX_CHANGED_BYTES = 16 << 20
"""Larger files are not changed: they are read into memory and compared line by line."""


def replace_content(file: Located, data: bytes, *, expected: Content | None) -> FileVersion:
    """Write `data`, provided that the file still holds what is `expected`; None when there was none.

    The new content is written beside the file, synced and renamed over it. Mode, owner and extended
    attributes stay; missing folders are made. Raises FileProblem, and then the file is as it was.
    """
    current = load(file, limit=MAX_CHANGED_BYTES)
    require_expected(file, current, expected)
    try:
        with resolved_folder(file.real.parent, make=True) as folder:
            return _write_and_rename(folder, file.real, data, current.info if current else None)
    except OSError as error:
        raise file_problem(file, error) from error


def require_expected(file: Located, current: Content | None, expected: Content | None) -> None:
    """Raises FileProblem unless the file, which holds `current`, is where and what it was."""
    if os.path.realpath(file.path) != str(file.real):
        raise FileProblem(
            f"{file.shown} leads somewhere else by now; nothing was written.", hint="Look at its links."
        )
    if (current and current.data) != (expected and expected.data):
        raise FileProblem(
            f"{file.shown} changed on disk while the change was waiting; nothing was written.",
            hint="Read it again, then ask for the change that it needs now.",
        )


def require_creatable(file: Located) -> None:
    """Raises FileProblem when there can't be a new file at this path."""
    nearest = next(path for path in file.real.parents if os.path.lexists(path))
    if not nearest.is_dir():
        raise FileProblem(
            f"{file.shown} would lie in something that is no folder.", hint="Choose another path."
        )
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise file_problem(file, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def require_replaceable(file: Located, content: Content) -> None:
    """Raises FileProblem when the file is write-protected, which a rename would pass over."""
    protected = not content.info.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    if protected or not os.access(file.real, os.W_OK):
        raise FileProblem(
            f"{file.shown} is write-protected.",
            hint="Ask the user whether to change it; chmod in a shell makes it writable.",
        )


def _write_and_rename(
    folder: ResolvedFolder, path: Path, data: bytes, keep: os.stat_result | None
) -> FileVersion:
    temporary = f".kimi-tui-{secrets.token_hex(6)}.tmp"
    descriptor = folder.create(temporary, 0o666 if keep is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if keep is not None and os.name == "posix":
                _keep_attributes(path, descriptor, keep)
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
            version = version_of(data, os.fstat(descriptor))
        folder.replace(temporary, path.name)
    except BaseException:
        with suppress(OSError):
            folder.remove(temporary)
        raise
    folder.sync()
    return version


def _keep_attributes(path: Path, descriptor: int, keep: os.stat_result) -> None:
    with suppress(OSError):  # only root gives files away
        os.fchown(descriptor, keep.st_uid, keep.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(path, follow_symlinks=False):
                os.setxattr(descriptor, name, os.getxattr(path, name, follow_symlinks=False))
    if os.fstat(descriptor).st_mode != keep.st_mode:  # where all files have one mode, it can't be set
        os.fchmod(descriptor, stat.S_IMODE(keep.st_mode))
