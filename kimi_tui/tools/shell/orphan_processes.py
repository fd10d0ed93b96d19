"""Processes that outlived the program: identified by a marker in their environment and killed."""

import os
import signal
from contextlib import suppress
from pathlib import Path

MARKER_VARIABLE = "KIMI_TUI_TASK"
"""Environment variable with the marker of a command and everything it starts.

For background tasks, the marker is the path of the output file.
"""
COMMAND_VARIABLE = "KIMI_TUI_COMMAND"
"""Environment variable with the id of a command, for everything it starts."""
_MAX_ROUNDS = 3
_PROC = Path("/proc")


def kill_orphans(group: int, marker: str) -> bool | None:
    """Kill the process group `group` if it carries `marker`.

    Return True if it was killed, None if it has ended, False if a group with that number exists but this
    system doesn't show whose it is.
    """
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return None
    if not _PROC.is_dir():
        return False
    if not any(_has_marker(pid, marker) for pid in _group_members(group)):
        return None
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)
    return True


def kill_marked(marker: str) -> int:
    """Kill all process groups that carry `marker` and return their number. Without /proc, none are found."""
    groups = {_group_of(pid) for pid in _list_processes() if _has_marker(pid, marker)} - {None}
    return sum(kill_orphans(group, marker) is True for group in groups if group is not None)


def kill_commands(prefix: str) -> int:
    """Kill the groups of all processes whose command id begins with `prefix`. Return their number. Blocks.

    This includes processes that left their command's group with `setsid`. Without /proc, none are found.
    """
    start = os.fsencode(f"{COMMAND_VARIABLE}={prefix}")
    n_killed = 0
    for _ in range(_MAX_ROUNDS):  # a process may start another one while the others are killed
        found = {_group_of(pid) for pid in _list_processes() if _has_variable(pid, start)}
        groups = [group for group in found if group is not None and group != os.getpgrp()]
        for group in groups:
            with suppress(OSError):
                os.killpg(group, signal.SIGKILL)
        n_killed += len(groups)
        if not groups:
            break
    return n_killed


def is_group_running(group: int) -> bool:
    """Return whether any process of the group is running. Zombies don't count."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _PROC.is_dir() or any(not _has_ended(pid) for pid in _group_members(group))


def _has_ended(pid: int) -> bool:
    try:
        state = (_PROC / str(pid) / "stat").read_bytes().rpartition(b") ")[2][:1]
    except OSError:
        return True
    return state in (b"Z", b"X")


def _group_members(group: int) -> list[int]:
    return [pid for pid in _list_processes() if _group_of(pid) == group]


def _list_processes() -> list[int]:
    try:
        return [int(path.name) for path in _PROC.iterdir() if path.name.isdecimal()]
    except OSError:
        return []


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _has_marker(pid: int, marker: str) -> bool:
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return os.fsencode(f"{MARKER_VARIABLE}={marker}") in variables


def _has_variable(pid: int, start: bytes) -> bool:
    """Return whether the process is running and has a variable that begins with `start`."""
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(each.startswith(start) for each in variables) and not _has_ended(pid)
