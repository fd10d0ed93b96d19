"""Reaper that terminates server processes, even if kimi-tui is killed."""

import asyncio
import os
import shutil
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress

_SCRIPT = """
trap '' HUP INT TERM
groups=
while read -r act group; do
    rest=
    for each in $groups; do [ "$each" = "$group" ] || rest="$rest $each"; done
    groups=$rest
    [ "$act" = hold ] && groups="$groups $group"
done
[ -n "$groups" ] || exit 0
for each in $groups; do kill -TERM "-$each"; done 2>/dev/null
sleep 2
for each in $groups; do kill -KILL "-$each"; done 2>/dev/null
"""
"""Reads the process groups to watch from stdin, which is closed when kimi-tui exits."""


class ProcessReaper:
    """A small shell process that outlives kimi-tui briefly. Does nothing if `sh` isn't available."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._starting = asyncio.Lock()

    async def watch(self, group: int) -> None:
        """Terminate the process group `group` when kimi-tui exits, even if it is killed."""
        async with self._starting:
            if self._process is None and (shell := shutil.which("sh")) is not None:
                with suppress(OSError):
                    self._process = await asyncio.create_subprocess_exec(
                        shell, "-c", _SCRIPT, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, cwd="/",
                        env={"PATH": os.defpath}, start_new_session=True,
                    )  # fmt: skip
        self._send(f"hold {group}\n")

    def unwatch(self, group: int) -> None:
        """Stop watching a process group that has ended, because its id may soon be reused."""
        self._send(f"drop {group}\n")

    async def close(self) -> None:
        """Close the reaper. Terminates the process groups that are still watched."""
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            await self._process.wait()
            self._process = None

    def _send(self, line: str) -> None:
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(line.encode())
