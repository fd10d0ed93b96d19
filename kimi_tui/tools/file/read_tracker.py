"""Tracks which file versions the model knows, and serializes changes of one file."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

from kimi_tui.base.frozen import frozen
from kimi_tui.tools.file.created_files import CreatedFiles


@frozen
class FileVersion:
    """A file's content at one point in time."""

    size: int
    mtime_ns: int
    digest: bytes | None
    """Hash of the complete content; None if the file was too large to be read completely."""

    def is_same_as(self, later: "FileVersion") -> bool:
        """Return whether the content is the same, as far as the two versions can be compared."""
        if self.digest is not None and later.digest is not None:
            return self.digest == later.digest
        return (self.size, self.mtime_ns) == (later.size, later.mtime_ns)


def new_digest() -> "hashlib.blake2b":
    """Return a new hash object for file contents."""
    return hashlib.blake2b(digest_size=16)


def version_of(data: bytes, info: os.stat_result) -> FileVersion:
    """Return the version of a file with the content `data`."""
    digest = new_digest()
    digest.update(data)
    return FileVersion(len(data), info.st_mtime_ns, digest.digest())


class PathLocks:
    """One lock per path, granted in the order of requests."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def lock_for(self, path: Path) -> asyncio.Lock:
        """Return the lock of `path` (absolute, links resolved)."""
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock


ReadState = Literal["unread", "outdated", "current"]


class FileTracker:
    """Versions of the files that one agent's model has read or written in this session.

    `edit_locks` serializes an agent's changes of one file, from the proposal to the write. `write_locks` is
    held only for the write and shared by all agents of a session: an agent that awaits approval never blocks
    another one. `created_files` are shared as well.
    """

    def __init__(
        self, write_locks: PathLocks | None = None, created_files: CreatedFiles | None = None
    ) -> None:
        self.created_files = created_files or CreatedFiles()
        self.edit_locks = PathLocks()
        self.write_locks = write_locks or PathLocks()
        self._versions: dict[Path, FileVersion] = {}

    def mark_read(self, path: Path, version: FileVersion) -> None:
        """Record that the model knows the content of `path`, because it has read or written it."""
        self._versions[path] = version

    def read_state(self, path: Path, version: FileVersion) -> ReadState:
        """Return what the model knows about `path`, whose current version is `version`."""
        known = self._versions.get(path)
        if known is None:
            return "unread"
        return "current" if known.is_same_as(version) else "outdated"
