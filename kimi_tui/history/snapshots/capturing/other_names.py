"""Other names of files (hard links): a change of a file in place changes the file under all of its names."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from kimi_tui.history.snapshots.entry import Entries, absolute_path

FileId = tuple[int, int]
"""Device and inode."""


def find_other_names(
    root: Path, paths: Collection[str], hard_links: Mapping[str, FileId], entries: Entries
) -> set[str]:
    """Return the other names of files at `paths` among `entries`, the last known state.

    `hard_links` has the device and inode of each of `paths` that has other names.
    """
    files: dict[str, set[FileId]] = {}
    """The files by their last known content."""
    for path, file in hard_links.items():
        if path in paths and (entry := entries.get(path)) is not None and entry.kind == "file":
            files.setdefault(entry.ref, set()).add(file)
    if not files:
        return set()
    candidates = [path for path, entry in entries.items() if entry.ref in files and path not in paths]
    return {
        path
        for path in candidates
        if (info := _lstat(root, path)) is not None and (info.st_dev, info.st_ino) in files[entries[path].ref]
    }


def _lstat(root: Path, path: str) -> os.stat_result | None:
    try:
        return os.lstat(absolute_path(root, path))
    except OSError:
        return None
