"""Read-only directories of the user, made writable while a commit changes entries in them."""

import os
import stat
from collections.abc import Iterable


def find_read_only_folders(paths: Iterable[str]) -> dict[str, int]:
    """Return the permission bits of parents of `paths` that this user owns but can't write to, outer first.

    Root may change entries anywhere.
    """
    if (user := os.geteuid()) == 0:
        return {}
    folders: dict[str, int] = {}
    for folder in sorted({os.path.dirname(path) for path in paths}):
        try:
            info = os.lstat(folder)
        except OSError:
            continue
        if stat.S_ISDIR(info.st_mode) and info.st_uid == user and info.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            folders[folder] = stat.S_IMODE(info.st_mode)
    return folders


def set_folder_mode(folder: int, name: str, mode: int) -> None:
    """Set the permission bits of a directory in `folder`, without following a link. Raises OSError."""
    opened = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{opened}", mode)
    finally:
        os.close(opened)


def make_parent_writable(source: str) -> None:
    """Let the owner remove a file of a layer from its directory; the effect of that has the true mode."""
    folder = os.path.dirname(source)
    mode = os.lstat(folder).st_mode
    if os.geteuid() != 0 and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(folder, stat.S_IMODE(mode) | stat.S_IRWXU)
