"""Times that separate earlier changes of files from later ones."""

import asyncio
import os
import time
from collections.abc import Iterable
from contextlib import suppress

CLOCK_REALTIME_COARSE = 5
_MAX_QUICK_TRIES = 4
_POLL_S = 0.0005


async def find_change_time(folder: str, roots: Iterable[str]) -> int:
    """Return a ctime in ns: files in `roots` changed before this call have an earlier one, others don't.

    File systems stamp changes with a clock that ticks every few milliseconds, so this may wait for the next
    tick. Since Linux 6.13, most of them use the precise time for a file whose ctime was read since its last
    change, and no later change gets an earlier time (`Documentation/filesystems/multigrain-ts.rst`). Then a
    file in `folder` is changed instead of waiting, if `folder` is on the same file system. Raises OSError.
    """
    before = time.clock_gettime_ns(time.CLOCK_REALTIME)
    device = os.stat(folder).st_dev
    if all(os.stat(root).st_dev == device for root in roots):
        return await _change_file_after(before, f"{folder}/change-time")
    while (tick := time.clock_gettime_ns(CLOCK_REALTIME_COARSE)) <= before:  # noqa: ASYNC110 - a clock
        await asyncio.sleep(_POLL_S)
    return tick


async def _change_file_after(before: int, path: str) -> int:
    """Change the attributes of a new file until its ctime is later than `before`, and return that."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        for number in range(1 << 20):
            if (changed := os.fstat(file).st_ctime_ns) > before:
                return changed
            if number > _MAX_QUICK_TRIES:
                await asyncio.sleep(_POLL_S)
            os.utime(file)
        raise TimeoutError(path)
    finally:
        os.close(file)
        with suppress(OSError):
            os.unlink(path)
