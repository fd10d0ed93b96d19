"""Processes: groups that are killed when this process exits, unless it is killed by SIGKILL, and marks.

A mark is a text that identifies a process on this machine, even after its id is reused.
"""

import atexit
import contextlib
import os
import signal
from pathlib import Path

_groups: set[int] = set()


def register_group(group: int) -> None:
    """Kill `group` when this process exits, unless it is unregistered before."""
    if not _groups:
        atexit.register(kill_all_groups)
    _groups.add(group)


def unregister_group(group: int) -> None:
    """Unregister `group`, which has ended."""
    _groups.discard(group)
    if not _groups:
        atexit.unregister(kill_all_groups)


def kill_all_groups() -> None:
    """Kill every registered group."""
    for group in _groups:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    _groups.clear()


def process_mark() -> str:
    """Return the mark of this process."""
    return mark_of_process(os.getpid())


def is_other_process_alive(mark: str) -> bool:
    """Return whether `mark` belongs to a running process other than this one."""
    number = mark.partition(" ")[0]
    if not number.isdecimal() or not (pid := int(number)) or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return mark_of_process(pid) == mark.strip()


def mark_of_process(pid: int) -> str:
    """Return the mark of a process: its id and, where the system provides it, the start time."""
    try:
        start_time = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return str(pid)
    return f"{pid} {start_time}"
