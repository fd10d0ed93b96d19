"""Gathering: tokens that come one by one are read a few at a time.

A read costs as much as all that is made of a token behind it. While nobody reads, what comes waits with the
system: nothing is lost, and single tokens show later by less than a frame.
"""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

PAUSE_S = 0.04
"""Between two reads."""
LONG = 30
"""Reads in a row that had to wait: a short answer is read as it comes, so that a tool call loses no time."""
_WAITED_S = 0.0005
"""Reading what has come already takes less."""
_BURST = 8192
"""Bytes between two waits, from which on the answer comes faster than single tokens."""


class Gathering:
    """Reads one answer; pauses between reads where more of it can be expected soon, but little."""

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

    async def read(self, more: Callable[[], Awaitable[bytes | None]]) -> bytes | None:
        """What `more` reads; None is the end."""
        if self._is_pause_due:
            await self._sleep(PAUSE_S)
        asked = self._now()
        chunk = await more()
        waited = self._now() - asked
        self._bytes += len(chunk or b"")
        self._is_pause_due = waited >= _WAITED_S and self._is_trickling(waited)
        return chunk

    def _is_trickling(self, waited: float) -> bool:
        trickles = waited < PAUSE_S and self._bytes < _BURST
        self._waits = self._waits + 1 if trickles else 0
        self._bytes = 0
        return self._waits > LONG
