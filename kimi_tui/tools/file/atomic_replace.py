"""Atomic replacement of a file's content: readers see either the old content or the new one."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.no_follow import NoFollowDir, open_no_follow_dir
from kimi_tui.tools.file.read_tracker import FileVersion, version_of
from kimi_tui.tools.file.regular_file import FileContent, read_regular, to_file_problem
from kimi_tui.tools.path_scope import LocatedPath

MAX_EDITABLE_BYTES = 16 << 20
"""Larger files can't be changed, because a change reads the whole file into memory and compares its lines."""


def replace_content(file: LocatedPath, data: bytes, *, expected: FileContent | None) -> FileVersion:
    """Write `data` if the file still has the `expected` content; None means that it must not exist.

    The new content is written next to the file, synced and renamed over it. Mode, owner and extended
    attributes are kept; missing directories are created. Raises FileProblem, in which case the file is
    unchanged.
    """
    current = read_regular(file, limit=MAX_EDITABLE_BYTES)
    require_expected(file, current, expected)
    try:
        with open_no_follow_dir(file.real.parent, create=True) as folder:
            return _write_and_rename(folder, file.real, data, current.info if current else None)
    except OSError as error:
        raise to_file_problem(file, error) from error


def require_expected(file: LocatedPath, current: FileContent | None, expected: FileContent | None) -> None:
    """Raises FileProblem unless the file is still at its location and `current` equals `expected`."""
    if os.path.realpath(file.path) != str(file.real):
        raise FileProblem(
            f"{file.display_path} now resolves to a different path; nothing was written.",
            hint="Check its symbolic links.",
        )
    if (current and current.data) != (expected and expected.data):
        raise FileProblem(
            f"{file.display_path} changed on disk before the change was approved; nothing was written.",
            hint="Read it again, then make the change that it needs now.",
        )


def require_creatable(file: LocatedPath) -> None:
    """Raises FileProblem if no file can be created at this path."""
    parent = next(path for path in file.real.parents if os.path.lexists(path))
    if not parent.is_dir():
        raise FileProblem(
            f"{file.display_path} can't be created: a parent isn't a directory.", hint="Choose another path."
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise to_file_problem(file, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def require_replaceable(file: LocatedPath, content: FileContent) -> None:
    """Raises FileProblem if the file is write-protected, which a rename would ignore."""
    protected = not content.info.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    if protected or not os.access(file.real, os.W_OK):
        raise FileProblem(
            f"{file.display_path} is write-protected.",
            hint="Ask the user whether to change it. If so, make it writable with chmod first.",
        )


def _write_and_rename(
    folder: NoFollowDir, path: Path, data: bytes, source: os.stat_result | None
) -> FileVersion:
    temporary = f".kimi-tui-{secrets.token_hex(6)}.tmp"
    descriptor = folder.create(temporary, 0o666 if source is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if source is not None and os.name == "posix":
                _copy_attributes(path, descriptor, source)
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


def _copy_attributes(path: Path, descriptor: int, source: os.stat_result) -> None:
    with suppress(OSError):  # only root can change the owner
        os.fchown(descriptor, source.st_uid, source.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(path, follow_symlinks=False):
                os.setxattr(descriptor, name, os.getxattr(path, name, follow_symlinks=False))
    if os.fstat(descriptor).st_mode != source.st_mode:  # some file systems don't support setting the mode
        os.fchmod(descriptor, stat.S_IMODE(source.st_mode))
