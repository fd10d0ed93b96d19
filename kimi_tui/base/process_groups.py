"""Process groups that are killed when this process exits, unless it is killed by SIGKILL."""

import atexit
import contextlib
import os
import signal

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
