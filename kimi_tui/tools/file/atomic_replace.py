"""Replacement of a file's content: readers see either the old content or the new one.

A file with other names (hard links), or with an owner or attributes that a new file can't get, is overwritten
in place instead.
"""

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.ids import new_temporary_name
from kimi_tui.base.no_follow import NoFollowDir, open_no_follow_dir
from kimi_tui.tools.file.read_tracker import FileVersion, version_of
from kimi_tui.tools.file.regular_file import FileContent, read_regular, to_file_problem
from kimi_tui.tools.path_scope import LocatedPath

MAX_EDITABLE_BYTES = 16 << 20
"""Larger files can't be changed, because a change reads the whole file into memory and compares its lines."""


def replace_content(file: LocatedPath, data: bytes, *, expected: FileContent | None) -> FileVersion:
    """Write `data` if the file still has the `expected` content; None means that it must not exist.

    The new content is written next to the file, synced and renamed over it, unless that would lose the owner,
    extended attributes or other names; missing directories are created. Raises FileProblem, in which case the
    file is unchanged.
    """
    current = read_regular(file, limit=MAX_EDITABLE_BYTES)
    require_expected(file, current, expected)
    try:
        with open_no_follow_dir(file.real.parent, create=True, root=file.root) as folder:
            return _write(folder, file.host_path, data, current)
    except OSError as error:
        raise to_file_problem(file, error) from error


def require_expected(file: LocatedPath, current: FileContent | None, expected: FileContent | None) -> None:
    """Raises FileProblem unless the file is still at its location and `current` equals `expected`."""
    if not file.is_current:
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
    parent = next(path for path in file.host_path.parents if os.path.lexists(path))
    if not parent.is_dir():
        raise FileProblem(
            f"{file.display_path} can't be created: a parent isn't a directory.", hint="Choose another path."
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise to_file_problem(file, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def require_replaceable(file: LocatedPath, content: FileContent) -> None:
    """Raises FileProblem if the file is write-protected, which a rename would ignore."""
    protected = not content.info.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    if protected or not os.access(file.host_path, os.W_OK):
        raise FileProblem(
            f"{file.display_path} is write-protected.",
            hint="Ask the user whether to change it. If so, make it writable with chmod first.",
        )


class _AttributesNotKept(Exception):
    """A new file can't get the attributes of the one that it would replace."""


def _write(folder: NoFollowDir, path: Path, data: bytes, current: FileContent | None) -> FileVersion:
    if current is None or current.info.st_nlink == 1:
        with suppress(_AttributesNotKept):
            return _write_and_rename(folder, path, data, current.info if current else None)
    assert current is not None
    return _overwrite(folder, path.name, data, current)


def _write_and_rename(
    folder: NoFollowDir, path: Path, data: bytes, source: os.stat_result | None
) -> FileVersion:
    """Raises _AttributesNotKept, OSError."""
    temporary = new_temporary_name()
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


def _overwrite(folder: NoFollowDir, name: str, data: bytes, current: FileContent) -> FileVersion:
    """Write `data` over the file's content; write the old content again if that fails."""
    descriptor = folder.open_existing(name)
    with os.fdopen(descriptor, "r+b") as stream:
        info = os.fstat(descriptor)
        if (info.st_dev, info.st_ino) != (current.info.st_dev, current.info.st_ino):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        try:
            _write_from_start(stream, data)
        except OSError:
            with suppress(OSError):
                _write_from_start(stream, current.data)
            raise
        return version_of(data, os.fstat(descriptor))


def _write_from_start(stream: BinaryIO, data: bytes) -> None:
    stream.seek(0)
    stream.write(data)
    stream.truncate()
    stream.flush()
    os.fsync(stream.fileno())


def _copy_attributes(path: Path, descriptor: int, source: os.stat_result) -> None:
    """Give a new file the owner, extended attributes and mode of another one. Raises _AttributesNotKept."""
    info = os.fstat(descriptor)
    if (info.st_uid, info.st_gid) != (source.st_uid, source.st_gid):
        try:
            os.fchown(descriptor, source.st_uid, source.st_gid)
        except OSError as error:  # only root can change the owner
            raise _AttributesNotKept from error
    if hasattr(os, "listxattr"):
        for name in _attribute_names(path):
            try:
                os.setxattr(descriptor, name, os.getxattr(path, name, follow_symlinks=False))
            except OSError as error:
                raise _AttributesNotKept from error
    if os.fstat(descriptor).st_mode != source.st_mode:  # some file systems don't support setting the mode
        os.fchmod(descriptor, stat.S_IMODE(source.st_mode))


def _attribute_names(path: Path) -> Sequence[str]:
    """Return the names of extended attributes, without those that the system sets."""
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return ()
    return [name for name in names if name != "security.selinux"]
