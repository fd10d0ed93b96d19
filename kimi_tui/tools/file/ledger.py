"""The ledger: what the model knows of which file, and whose turn it is to change one."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

from kimi_tui.base.value import value


@value
class FileVersion:
    """What a file held at one moment."""

    size: int
    mtime_ns: int
    digest: bytes | None
    """Of the whole content; None when the file was too large to read wholly."""

    def is_same_as(self, later: "FileVersion") -> bool:
        """Whether the content is the same, as far as both versions tell."""
        if self.digest is not None and later.digest is not None:
            return self.digest == later.digest
        return (self.size, self.mtime_ns) == (later.size, later.mtime_ns)


def new_digest() -> "hashlib.blake2b":
    """The hash by which contents are told apart."""
    return hashlib.blake2b(digest_size=16)


def version_of(data: bytes, info: os.stat_result) -> FileVersion:
    """The version of a file that holds `data`."""
    digest = new_digest()
    digest.update(data)
    return FileVersion(len(data), info.st_mtime_ns, digest.digest())


class PathLocks:
    """One lock a path; whoever asks first gets it first."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def of(self, path: Path) -> asyncio.Lock:
        """The lock of `path`, which is absolute with links resolved."""
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock


Knowledge = Literal["unread", "outdated", "current"]


class FileLedger:
    """The files that one agent's model has read or written in this session, as they were then.

    `order` makes the changes of one file that an agent asks for wait for each other, from the proposal to the
    write. `writes` is held for the write alone and shared by all agents of a session: an agent that waits for
    the user never blocks another one.
    """

    def __init__(self, writes: PathLocks | None = None) -> None:
        self.order = PathLocks()
        self.writes = writes or PathLocks()
        self._known: dict[Path, FileVersion] = {}

    def saw(self, path: Path, version: FileVersion) -> None:
        """The model has read `path`, or knows what it holds since it wrote it."""
        self._known[path] = version

    def knowledge(self, path: Path, version: FileVersion) -> Knowledge:
        """What the model knows of `path`, which is now at `version`."""
        known = self._known.get(path)
        if known is None:
            return "unread"
        return "current" if known.is_same_as(version) else "outdated"
