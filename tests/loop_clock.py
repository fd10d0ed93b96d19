"""Control over the event loop's clock in tests."""

import asyncio
from typing import TypeVar

_T = TypeVar("_T")
_GRACE_S = 2.0
"""Time for work to end after its timeout."""


class LoopClock:
    """Clock of the running event loop that a test can advance, so that timeouts expire immediately."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._real = loop.time
        self._ahead_s = 0.0
        loop.time = self._time  # type: ignore[method-assign]

    def advance(self, seconds: float) -> None:
        """Advance the clock, so that timers due by then run next."""
        self._ahead_s += seconds

    async def advance_until(self, done: asyncio.Future[_T], seconds: float) -> _T:
        """Advance the clock repeatedly until `done` is done, in case a timer starts only later."""
        while not done.done():
            self.advance(seconds)
            await asyncio.wait([done], timeout=_GRACE_S)
        return await done

    def _time(self) -> float:
        return self._real() + self._ahead_s
