"""Disks that fail, each in one way, and one that takes the process with it."""

import errno
import os
import signal
import threading
from pathlib import Path
from typing import Literal

from kimi_tui.history.disk import LocalDisk
from tests.patience import PATIENCE_S


class ShortWrites(LocalDisk):
    """Takes a few bytes at a time."""

    def write(self, file: int, data: memoryview) -> int:
        return super().write(file, data[:7])


class FailingDisk(LocalDisk):
    """Refuses calls by name while `refused` names them; a refused write takes half of its data first."""

    def __init__(self, *refused: str, error: int = errno.ENOSPC) -> None:
        self.refused = set(refused)
        self._error = error

    def write(self, file: int, data: memoryview) -> int:
        if "write" in self.refused and len(data) > 1:
            super().write(file, data[: len(data) // 2])
        self._refuse("write")
        return super().write(file, data)

    def fsync(self, file: int) -> None:
        self._refuse("fsync")
        super().fsync(file)

    def open(self, path: Path, flags: int) -> int:
        self._refuse("open")
        return super().open(path, flags)

    def truncate(self, file: int, size: int) -> None:
        self._refuse("truncate")
        super().truncate(file, size)

    def link(self, existing: Path, name: Path) -> None:
        self._refuse("link")
        super().link(existing, name)

    def rename(self, old: Path, new: Path) -> None:
        self._refuse("rename")
        super().rename(old, new)

    def _refuse(self, call: str) -> None:
        if call in self.refused:
            raise OSError(self._error, os.strerror(self._error))


class SlowDisk(FailingDisk):
    """Takes its time with each fsync: until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = threading.Event()
        self.goes_on = threading.Event()

    def fsync(self, file: int) -> None:
        self.waits.set()
        if not self.goes_on.wait(timeout=PATIENCE_S):
            raise AssertionError("whoever tells the disk to go on waits for the disk")
        super().fsync(file)


class WatchedDisk(LocalDisk):
    """Notes what is called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def write(self, file: int, data: memoryview) -> int:
        self.calls.append("write")
        return super().write(file, data)

    def fsync(self, file: int) -> None:
        self.calls.append("fsync")
        super().fsync(file)


class CountingDisk(LocalDisk):
    """Has `count` called before each call that is carried out."""

    def count(self) -> None:
        raise NotImplementedError

    def open(self, path: Path, flags: int) -> int:
        self.count()
        return super().open(path, flags)

    def write(self, file: int, data: memoryview) -> int:
        self.count()
        return super().write(file, data)

    def fsync(self, file: int) -> None:
        self.count()
        super().fsync(file)

    def truncate(self, file: int, size: int) -> None:
        self.count()
        super().truncate(file, size)

    def close(self, file: int) -> None:
        self.count()
        super().close(file)

    def link(self, existing: Path, name: Path) -> None:
        self.count()
        super().link(existing, name)

    def rename(self, old: Path, new: Path) -> None:
        self.count()
        super().rename(old, new)

    def unlink(self, path: Path) -> None:
        self.count()
        super().unlink(path)


Death = Literal["before", "halfway", "power cut"]


class DeadlyDisk(CountingDisk):
    """Kills the process at its `at`-th call, counted from 1.

    It dies `before` the call is carried out; `halfway` through it, if it is a write; or in a `power cut`,
    which also takes what files got since they were last fsynced.
    """

    def __init__(self, at: int, death: Death) -> None:
        self._left = at
        self._death = death
        self._safe: dict[Path, int] = {}
        self._paths: dict[int, Path] = {}

    def open(self, path: Path, flags: int) -> int:
        file = super().open(path, flags)
        self._paths[file] = path
        self._safe.setdefault(path, os.fstat(file).st_size)
        return file

    def write(self, file: int, data: memoryview) -> int:
        if self._left == 1 and self._death == "halfway":
            LocalDisk.write(self, file, data[: len(data) // 2])
        return super().write(file, data)

    def fsync(self, file: int) -> None:
        super().fsync(file)
        self._safe[self._paths[file]] = os.fstat(file).st_size

    def rename(self, old: Path, new: Path) -> None:
        super().rename(old, new)
        self._safe[new] = self._safe.pop(old, 0)

    def count(self) -> None:
        self._left -= 1
        if self._left == 0:
            if self._death == "power cut":
                self._lose_what_is_not_safe()
            os.kill(os.getpid(), signal.SIGKILL)

    def _lose_what_is_not_safe(self) -> None:
        for path, size in self._safe.items():
            if path.is_file() and path.stat().st_size > size:
                os.truncate(path, size)
