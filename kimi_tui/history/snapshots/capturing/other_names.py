"""Other names of files (hard links): a change of a file in place changes the file under all of its names."""

import os
from collections.abc import Iterable
from pathlib import Path

from kimi_tui.history.snapshots.entry import Entries, absolute_path

_FileId = tuple[int, int]
"""Device and inode."""


def add_other_names(root: Path, paths: Iterable[str], entries: Entries) -> list[str]:
    """Return `paths` and the other names of these files among `entries`, the last known state."""
    paths = list(paths)
    files: dict[str, set[_FileId]] = {}
    """The files with several names, by their last known content."""
    for path in paths:
        entry, info = entries.get(path), _lstat(root, path)
        if entry is not None and entry.kind == "file" and info is not None and info.st_nlink > 1:
            files.setdefault(entry.ref, set()).add((info.st_dev, info.st_ino))
    candidates = [path for path, entry in entries.items() if entry.ref in files] if files else []
    for path in candidates:
        info = _lstat(root, path)
        if info is not None and (info.st_dev, info.st_ino) in files[entries[path].ref]:
            paths.append(path)
    return list(dict.fromkeys(paths))


def _lstat(root: Path, path: str) -> os.stat_result | None:
    try:
        return os.lstat(absolute_path(root, path))
    except OSError:
        return None
