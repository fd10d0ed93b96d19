"""The event loop's clock in a test's hands."""

import asyncio
from typing import TypeVar

_T = TypeVar("_T")
_GRACE_S = 2.0
"""For what has run out of time to end as it does."""


class Clock:
    """The clock of the running event loop, which a test sets forward: what takes long is over at once."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._real = loop.time
        self._ahead_s = 0.0
        loop.time = self._time  # type: ignore[method-assign]

    def forward(self, seconds: float) -> None:
        """Let so much time have passed: the timers that are due by then are called next."""
        self._ahead_s += seconds

    async def forward_until(self, done: asyncio.Future[_T], seconds: float) -> _T:
        """Let so much time have passed, again if what watches the time began to only after that."""
        while not done.done():
            self.forward(seconds)
            await asyncio.wait([done], timeout=_GRACE_S)
        return await done

    def _time(self) -> float:
        return self._real() + self._ahead_s
