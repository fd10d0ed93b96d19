"""Copies of files of any type, with content, holes, owner, mode, times and extended attributes.

A path is given as the descriptor of its directory and a name, so that a link that replaces one of its
directories in the meantime has no effect.
"""

import os
import stat
from errno import ENXIO

from kimi_tui.workspaces.effects import PathState
from kimi_tui.workspaces.overlay.file_comparison import OVERLAY_PREFIXES, own_attributes

_PIECE = 1 << 20
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def copy_entry(source: str, folder: int, name: str, state: PathState) -> None:
    """Create `name` like the file, link, pipe, socket or device `source`, whose state is `state`.

    Raises OSError.
    """
    if state.is_file:
        reader = os.open(source, os.O_RDONLY | _OPEN)
        try:
            writer = os.open(name, _CREATE, 0o600, dir_fd=folder)
            try:
                _copy_content(reader, writer)
            finally:
                os.close(writer)
        finally:
            os.close(reader)
    elif state.is_link:
        os.symlink(os.readlink(source), name, dir_fd=folder)
    else:
        os.mknod(name, state.mode, os.lstat(source).st_rdev, dir_fd=folder)
    copy_attributes(source, folder, name, state)


def overwrite_content(source: str, folder: int, name: str) -> None:
    """Give an existing file the content of `source`; write only pieces that differ. Raises OSError."""
    reader = os.open(source, os.O_RDONLY | _OPEN)
    try:
        writer = _open_for_writing(folder, name)
        try:
            _write_differences(reader, writer)
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def copy_attributes(source: str, folder: int, name: str, state: PathState, *, with_time: bool = True) -> None:
    """Set owner, mode, extended attributes and mtime as in `state` and at `source`. Raises OSError."""
    current = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if (current.st_uid, current.st_gid) != state.owner:
        os.chown(name, *state.owner, dir_fd=folder, follow_symlinks=False)
    path = f"/proc/self/fd/{folder}/{name}"
    if not state.is_link:
        _copy_extended_attributes(source, path)
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        if mode != stat.S_IMODE(state.mode):
            os.chmod(path, stat.S_IMODE(state.mode))
    if with_time:
        times = (os.lstat(source).st_atime_ns, state.mtime_ns)
        os.utime(name, ns=times, dir_fd=folder, follow_symlinks=False)


def strip_overlay_attributes(path: str) -> None:
    """Remove overlayfs's attributes from a file of a layer. Raises OSError."""
    for name in _overlay_attributes(path):
        try:
            os.removexattr(path, name, follow_symlinks=False)
        except PermissionError:
            mode = stat.S_IMODE(os.lstat(path).st_mode)
            os.chmod(path, mode | stat.S_IWUSR)
            os.removexattr(path, name, follow_symlinks=False)
            os.chmod(path, mode)


def _overlay_attributes(path: str) -> list[str]:
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return []
    return [name for name in names if name.startswith(OVERLAY_PREFIXES)]


def _copy_extended_attributes(source: str, path: str) -> None:
    wanted, current = own_attributes(source), own_attributes(path)
    for name in current.keys() - wanted.keys():
        os.removexattr(path, name, follow_symlinks=False)
    for name, value in wanted.items():
        if current.get(name) != value:
            os.setxattr(path, name, value, follow_symlinks=False)


def _open_for_writing(folder: int, name: str) -> int:
    try:
        return os.open(name, os.O_RDWR | _OPEN, dir_fd=folder)
    except PermissionError:
        path = f"/proc/self/fd/{folder}/{name}"
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        os.chmod(path, mode | stat.S_IRUSR | stat.S_IWUSR, follow_symlinks=True)
        try:
            return os.open(name, os.O_RDWR | _OPEN, dir_fd=folder)
        finally:
            os.chmod(path, mode)


def _copy_content(reader: int, writer: int) -> None:
    """Copy the data of a file, and leave its holes out."""
    size = os.fstat(reader).st_size
    position = 0
    while position < size:
        try:
            start = os.lseek(reader, position, os.SEEK_DATA)
        except OSError as error:
            if error.errno == ENXIO:  # a hole until the end
                break
            raise
        end = os.lseek(reader, start, os.SEEK_HOLE)
        os.lseek(reader, start, os.SEEK_SET)
        os.lseek(writer, start, os.SEEK_SET)
        while start < end and (done := os.sendfile(writer, reader, None, min(end - start, 1 << 30))):
            start += done
        position = end
    os.ftruncate(writer, size)


def _write_differences(reader: int, writer: int) -> None:
    position, size = 0, os.fstat(writer).st_size
    while piece := os.pread(reader, _PIECE, position):
        if os.pread(writer, len(piece), position) != piece and (position < size or piece.strip(b"\0")):
            _write_all(writer, piece, position)
        position += len(piece)
    if os.fstat(writer).st_size != position:
        os.ftruncate(writer, position)


def _write_all(file: int, data: bytes, position: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, position)
        view, position = view[done:], position + done
