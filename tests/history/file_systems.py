"""File systems that fail in one way each, and one that kills the process."""

import errno
import os
import signal
import threading
from pathlib import Path
from typing import Literal

from kimi_tui.history.filesystem import LocalFileSystem
from tests.timeouts import TEST_TIMEOUT_S


class ShortWriteFileSystem(LocalFileSystem):
    """Writes only a few bytes per call."""

    def write(self, file: int, data: memoryview) -> int:
        return super().write(file, data[:7])


class FailingFileSystem(LocalFileSystem):
    """Fails the calls named in `failing_calls`. A failing write still writes half of its data."""

    def __init__(self, *failing_calls: str, error: int = errno.ENOSPC) -> None:
        self.failing_calls = set(failing_calls)
        self._error = error

    def write(self, file: int, data: memoryview) -> int:
        if "write" in self.failing_calls and len(data) > 1:
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
        if call in self.failing_calls:
            raise OSError(self._error, os.strerror(self._error))


class SlowFileSystem(FailingFileSystem):
    """Waits in each fsync until `released` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()
        self.released = threading.Event()

    def fsync(self, file: int) -> None:
        self.waiting.set()
        if not self.released.wait(timeout=TEST_TIMEOUT_S):
            raise AssertionError("nothing has released the file system")
        super().fsync(file)


class RecordingFileSystem(LocalFileSystem):
    """Records its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def write(self, file: int, data: memoryview) -> int:
        self.calls.append("write")
        return super().write(file, data)

    def fsync(self, file: int) -> None:
        self.calls.append("fsync")
        super().fsync(file)


class CountingFileSystem(LocalFileSystem):
    """Calls `count` before each call."""

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


CrashMode = Literal["before", "halfway", "power cut"]


class CrashingFileSystem(CountingFileSystem):
    """Kills the process at its `at`-th call, counted from 1.

    The process dies `before` the call; `halfway` through it, if it is a write; or in a `power cut`, which
    also loses data that wasn't synced.
    """

    def __init__(self, at: int, mode: CrashMode) -> None:
        self._left = at
        self._mode = mode
        self._synced_sizes: dict[Path, int] = {}
        self._paths: dict[int, Path] = {}

    def open(self, path: Path, flags: int) -> int:
        file = super().open(path, flags)
        self._paths[file] = path
        self._synced_sizes.setdefault(path, os.fstat(file).st_size)
        return file

    def write(self, file: int, data: memoryview) -> int:
        if self._left == 1 and self._mode == "halfway":
            LocalFileSystem.write(self, file, data[: len(data) // 2])
        return super().write(file, data)

    def fsync(self, file: int) -> None:
        super().fsync(file)
        self._synced_sizes[self._paths[file]] = os.fstat(file).st_size

    def rename(self, old: Path, new: Path) -> None:
        super().rename(old, new)
        self._synced_sizes[new] = self._synced_sizes.pop(old, 0)

    def count(self) -> None:
        self._left -= 1
        if self._left == 0:
            if self._mode == "power cut":
                self._drop_unsynced()
            os.kill(os.getpid(), signal.SIGKILL)

    def _drop_unsynced(self) -> None:
        for path, size in self._synced_sizes.items():
            if path.is_file() and path.stat().st_size > size:
                os.truncate(path, size)
