"""The leash: ends the servers that were started, also when the program is killed and can't do so itself."""

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
"""Reads which process groups to hold until its input ends, which it does when the program is gone."""


class Leash:
    """A small shell that outlives the program by a moment. Without `sh` it holds nothing."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._starting = asyncio.Lock()

    async def hold(self, group: int) -> None:
        """End the process group `group` when the program ends, however it does."""
        async with self._starting:
            if self._process is None and (shell := shutil.which("sh")) is not None:
                with suppress(OSError):
                    self._process = await asyncio.create_subprocess_exec(
                        shell, "-c", _SCRIPT, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, cwd="/",
                        env={"PATH": os.defpath}, start_new_session=True,
                    )  # fmt: skip
        self._tell(f"hold {group}\n")

    def release(self, group: int) -> None:
        """The group has ended: its number may soon be somebody else's."""
        self._tell(f"drop {group}\n")

    async def close(self) -> None:
        """Let go; what is still held is ended."""
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            await self._process.wait()
            self._process = None

    def _tell(self, line: str) -> None:
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(line.encode())
