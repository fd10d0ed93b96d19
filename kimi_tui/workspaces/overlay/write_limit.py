"""Limit of what commands write in a workspace, so that they don't fill the disk."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.overlay.supervisor_client import MountedView

_MB = 1 << 20
_POLL_S = 0.25
_SMALL_MB = 100
"""A command that wrote less isn't the reason for a full disk."""


@frozen(kw_only=True)
class WriteLimit:
    """How much the commands of one workspace may write."""

    max_mb: int = 10_000
    min_free_mb: int = 1_000
    """Commands end before less than this is free, or less than `min_free_share` of a small disk."""
    min_free_share: float = 0.05


class WriteGuard:
    """Ends commands that write more than the limit to the directories of a workspace."""

    def __init__(self, folders: Sequence[str], limit: WriteLimit) -> None:
        self._folders = folders
        self._limit = limit
        self._written = 0
        """Bytes that were found in the directories."""
        self._task: asyncio.Task[None] | None = None
        self.stop_reason = ""
        """Why the last command was ended; empty if it wasn't."""

    def watch(self, view: MountedView) -> None:
        """Watch the command that `view` runs until it ends."""
        self.stop_reason = ""
        self._task = asyncio.get_running_loop().create_task(self._watch(view))

    async def _watch(self, view: MountedView) -> None:
        free_before = self._free_bytes()[0]
        while not view.has_ended:
            with suppress(TimeoutError):
                async with asyncio.timeout(_POLL_S):
                    await view.wait()
            free, min_free = self._free_bytes()
            used = free_before - free
            # the exact size is needed only if the disk shows that it may be too large
            if self._written + used <= self._limit.max_mb * _MB // 2 and free >= min_free:
                continue
            self._written, free_before = await asyncio.to_thread(self._measure), free
            if self._written > self._limit.max_mb * _MB:
                size = f"{self._limit.max_mb:,}"
                self.stop_reason = msg("it wrote more than {size} MB in its workspace", size=size)
            elif free < min_free and self._written > _SMALL_MB * _MB:
                self.stop_reason = msg("the disk with its workspace is almost full")
            if self.stop_reason:
                view.close()

    def _free_bytes(self) -> tuple[int, int]:
        """Return the free space, and how much of it has to stay free."""
        try:
            info = os.statvfs(self._folders[0])
        except OSError:
            return 0, 0
        share = int(info.f_blocks * info.f_frsize * self._limit.min_free_share)
        return info.f_bavail * info.f_frsize, min(self._limit.min_free_mb * _MB, share)

    def _measure(self) -> int:
        """Return how many bytes the directories take on the disk."""
        size = 0
        for start in self._folders:
            for folder, _, names in os.walk(start):
                for name in names:
                    with suppress(OSError):
                        size += os.lstat(f"{folder}/{name}").st_blocks * 512
        return size
