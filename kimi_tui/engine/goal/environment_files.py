"""Identity of the files that decide how a check runs and that checkpoints don't cover."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from kimi_tui.engine.goal.protected_files import CACHES, ENVIRONMENT_FOLDERS, ProtectedFiles

FileIdentity = tuple[int, ...]
_USER_FILES = (
    ".local/lib/python3*/site-packages/*.pth",
    ".local/lib/python3*/site-packages/*customize.py",
    ".npmrc",
    ".config/uv/uv.toml",
    ".config/pip/pip.conf",
)
"""Files in the home directory that change how every program of a kind starts."""


def find_environment_files(
    work_dir: Path, protected: ProtectedFiles, *, home: Path | None = None
) -> Mapping[str, FileIdentity]:
    """Return protected files of the working directory, programs on the PATH, and files of the user.

    Each has an identity that changes with its content: the time of its last change can't be set. Blocks.
    """
    found = dict(_files_below(str(work_dir), protected))
    for program in sorted(protected.programs):
        if (path := shutil.which(program)) is not None:
            found[f"{program}: {path}"] = _identity_of(os.path.realpath(path))
    home = home or Path.home()
    for pattern in _USER_FILES:
        for file in home.glob(pattern):
            found[str(file)] = _identity_of(str(file))
    return found


def changed_files(before: Mapping[str, FileIdentity], after: Mapping[str, FileIdentity]) -> list[str]:
    """Return the names of files that were changed, created or removed, sorted."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _files_below(root: str, protected: ProtectedFiles) -> Iterator[tuple[str, FileIdentity]]:
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in CACHES]
        prefix = folder[len(root) :].lstrip("/")
        is_environment = not ENVIRONMENT_FOLDERS.isdisjoint(prefix.split("/"))
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in (*files, *links):
            path = f"{prefix}/{name}" if prefix else name
            if is_environment or protected.is_protected(path):
                yield path, _identity_of(f"{folder}/{name}")


def _identity_of(path: str) -> FileIdentity:
    try:
        info = os.lstat(path)
    except OSError:
        return ()
    return info.st_dev, info.st_ino, info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns
