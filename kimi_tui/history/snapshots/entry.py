"""Entries: what a path of the work dir is at one moment, and the path's own form.

Paths are relative to the work dir, with `/`; those in a folder that was added to it are `FOLDER//PATH`, with
the folder's absolute path. File names are bytes: those that are no UTF-8 are held with surrogate escapes, as
`os.fsdecode` makes them, which JSON in ASCII carries unharmed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["file", "link", "folder", "omitted"]


class Entry(NamedTuple):
    """A file, symbolic link or folder; or something that is not covered. Two equal ones hold the same."""

    kind: Kind
    mode: int
    """The permission bits."""
    size: int
    ref: str
    """Of a file the digest of its content; of a link its target; of what is omitted, why."""
    version: int = 0
    """Of what is omitted its mtime in ns, to tell whether it changed."""


Entries = Mapping[str, Entry]
Changes = Mapping[str, Entry | None]
"""Path -> what it became; None for what is gone."""


def parents_of(path: str) -> Iterator[str]:
    """The folders that a path lies in, the nearest first, without the work dir or the added folder itself."""
    while "/" in path:
        path = path.rpartition("/")[0]
        if path.endswith("/"):
            return
        yield path


def on_disk(root: str | Path, path: str) -> str:
    """Where a path is, with the work dir at `root`; the empty path is the work dir."""
    if path.startswith("/"):
        return path.replace("//", "/", 1).rstrip("/")
    return f"{root}/{path}" if path else str(root)


def apply(changes: Changes, state: dict[str, Entry]) -> None:
    """Bring `state` to what it became by `changes`."""
    for path, entry in changes.items():
        if entry is None:
            state.pop(path, None)
        else:
            state[path] = entry
