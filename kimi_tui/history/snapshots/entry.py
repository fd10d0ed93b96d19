"""Entries: the state of one path of the working directory at one moment, and the format of paths.

Paths are relative to the working directory, with `/`. Paths in an added directory are `DIRECTORY//PATH`, with
the absolute path of the directory. Files that a file tool wrote outside these directories are
`DIRECTORY//NAME`. File names are bytes: names that aren't valid UTF-8 are decoded with surrogate escapes, as
in `os.fsdecode`. ASCII JSON preserves these.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["file", "link", "folder", "omitted"]


class Entry(NamedTuple):
    """A file, symbolic link or directory, or something not covered. Equal entries have the same content."""

    kind: Kind
    mode: int
    """The permission bits."""
    size: int
    ref: str
    """The content digest of a file; the target of a link; the reason for an omitted entry."""
    version: int = 0
    """The mtime in ns of an omitted entry, to detect changes."""


_MODES: dict[int, int] = {}
"""The shared object for each mode."""


def share_mode(mode: int) -> int:
    """Return `mode` as an object shared by all entries and stat keys. There are few different modes."""
    return _MODES.setdefault(mode, mode)


Entries = Mapping[str, Entry]
Changes = Mapping[str, Entry | None]
"""Path -> its new entry; None if it was removed."""


def parents_of(path: str) -> Iterator[str]:
    """Yield the parent directories of a path, nearest first, excluding the working or added directory."""
    while "/" in path:
        path = path.rpartition("/")[0]
        if path.endswith("/"):
            return
        yield path


def absolute_path(root: str | Path, path: str) -> str:
    """Return the absolute path of `path` in the working directory `root`. The empty path is `root`."""
    if path.startswith("/"):
        return path.replace("//", "/", 1).rstrip("/")
    return f"{root}/{path}" if path else str(root)


def apply_changes(changes: Changes, state: dict[str, Entry]) -> None:
    """Apply `changes` to `state`."""
    for path, entry in changes.items():
        if entry is None:
            state.pop(path, None)
        else:
            state[path] = entry
