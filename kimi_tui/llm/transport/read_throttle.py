"""Throttle for reads of a stream, so that tokens that arrive one by one are read in batches.

A read costs as much as all processing of the token that it returns. During a pause, data waits in the
operating system's buffers: nothing is lost, and a token appears less than a frame later.
"""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

PAUSE_S = 0.04
"""Pause between two reads, in seconds."""
MIN_WAITED_READS = 30
"""Consecutive reads that had to wait for data before pauses begin. Short responses are never delayed, so
that a tool call runs without delay.
"""
_WAIT_THRESHOLD_S = 0.0005
"""A read of data that has already arrived takes less."""
_BURST_BYTES = 8192
"""From this many bytes between two waits, the response is too fast for pauses."""


class ReadThrottle:
    """Reads one response. Pauses between reads while small amounts of data arrive at short intervals."""

    def __init__(
        self,
        *,
        now: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._waits = 0
        self._bytes = 0
        self._is_pause_due = False

    async def read(self, read_more: Callable[[], Awaitable[bytes | None]]) -> bytes | None:
        """Return the result of `read_more`; None is the end."""
        if self._is_pause_due:
            await self._sleep(PAUSE_S)
        began = self._now()
        chunk = await read_more()
        waited = self._now() - began
        self._bytes += len(chunk or b"")
        self._is_pause_due = waited >= _WAIT_THRESHOLD_S and self._is_trickling(waited)
        return chunk

    def _is_trickling(self, waited: float) -> bool:
        is_slow = waited < PAUSE_S and self._bytes < _BURST_BYTES
        self._waits = self._waits + 1 if is_slow else 0
        self._bytes = 0
        return self._waits > MIN_WAITED_READS
