"""Processes that outlived the program: found by a mark in their environment, and ended."""

import os
import signal
from contextlib import suppress
from pathlib import Path

MARK = "KIMI_TUI_TASK"
"""The variable that tells a command, and all that it starts: of a background one, by its output's path."""
_PROC = Path("/proc")


def end_orphans(group: int, mark: str) -> bool | None:
    """End the process group `group` if it carries `mark`.

    True: it was, and is ended. None: nothing of it is left. False: there is such a group, and this system
    doesn't tell whose it is.
    """
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return None
    if not _PROC.is_dir():
        return False
    if not any(_is_marked(pid, mark) for pid in _members(group)):
        return None
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)
    return True


def end_marked(mark: str) -> int:
    """End every process group that carries `mark`; of how many. None are found where there is no /proc."""
    groups = {_group_of(pid) for pid in _processes() if _is_marked(pid, mark)} - {None}
    return sum(end_orphans(group, mark) is True for group in groups if group is not None)


def runs(group: int) -> bool:
    """Whether anything of the process group runs: one that has ended, and waits to be noticed, doesn't."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _PROC.is_dir() or any(not _has_ended(pid) for pid in _members(group))


def _has_ended(pid: int) -> bool:
    try:
        state = (_PROC / str(pid) / "stat").read_bytes().rpartition(b") ")[2][:1]
    except OSError:
        return True
    return state in (b"Z", b"X")


def _members(group: int) -> list[int]:
    return [pid for pid in _processes() if _group_of(pid) == group]


def _processes() -> list[int]:
    try:
        return [int(path.name) for path in _PROC.iterdir() if path.name.isdecimal()]
    except OSError:
        return []


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _is_marked(pid: int, mark: str) -> bool:
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return os.fsencode(f"{MARK}={mark}") in variables
