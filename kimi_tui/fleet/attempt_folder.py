"""Directories of attempts, and the processes that belong to them."""

import contextlib
import fcntl
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PREFIX = "kimi-fleet-"
ATTEMPT_VARIABLE = "KIMI_TUI_FLEET_ATTEMPT"
"""Environment variable of an attempt's processes: its directory. Finds those that left the process group."""
_LOCK = "lock"
_KILL_ROUNDS = 5
"""How often processes are looked for, since they may start others meanwhile."""


@contextmanager
def attempt_folder(task_id: str, parent: str, *, keeps: bool) -> Iterator[Path]:
    """Create the directory of an attempt. Each attempt at a task gets the same path, unless it is in use.

    It is locked while in use, and removed afterwards unless `keeps`.

    Directories whose owner was killed are removed first. Raises OSError.
    """
    base = Path(parent or tempfile.gettempdir())
    base.mkdir(parents=True, exist_ok=True)
    remove_stale_folders(base)
    folder = _create_folder(base, task_id)
    lock, unnamed = folder / _LOCK, folder / f"{_LOCK}.new"
    try:
        with unnamed.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            unnamed.rename(lock)  # named once it is locked, so that the directory never looks stale
            try:
                yield folder
            finally:
                kill_marked(str(folder))
                if not keeps:
                    remove_folder(folder)
    finally:
        lock.unlink(missing_ok=True)


def _create_folder(base: Path, task_id: str) -> Path:
    """Create the directory under the same path as before: the path is a part of the model's requests."""
    folder = base / f"{PREFIX}{task_id}"
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{task_id}-", dir=base))
    return folder.resolve()


def remove_stale_folders(base: Path) -> None:
    """Remove the directories of attempts whose owner was killed, and kill the processes that they left."""
    for folder in base.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (folder / _LOCK).open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            kill_marked(str(folder.resolve()))
            remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Remove a directory, also if the attempt made parts of it read-only."""

    def make_writable(function: Any, path: str, _: Any) -> None:
        with contextlib.suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            function(path)

    shutil.rmtree(folder, onerror=make_writable)


def kill_marked(folder: str) -> None:
    """Kill the processes of an attempt that left its process groups, where the system can find them."""
    if sys.platform != "linux":
        return
    mark = os.fsencode(f"{ATTEMPT_VARIABLE}={folder}")
    for _ in range(_KILL_ROUNDS):
        if not (found := [pid for pid in _own_processes() if mark in _environment(pid)]):
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _own_processes() -> Iterator[int]:
    user = os.getuid()
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and entry.stat().st_uid == user and int(entry.name) != os.getpid():
                yield int(entry.name)


def _environment(pid: int) -> list[bytes]:
    """Return the variables that a process started with. A zombie has none."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
