"""Process groups that must not outlive this process, however it ends (but by SIGKILL)."""

import atexit
import contextlib
import os
import signal

_groups: set[int] = set()


def keep_in_sight(group: int) -> None:
    """End `group` when this process ends, unless it is let go before."""
    if not _groups:
        atexit.register(end_all)
    _groups.add(group)


def let_go(group: int) -> None:
    """`group` has ended."""
    _groups.discard(group)
    if not _groups:
        atexit.unregister(end_all)


def end_all() -> None:
    """Kill every group that is in sight."""
    for group in _groups:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    _groups.clear()
