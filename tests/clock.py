"""The event loop's clock in a test's hands."""

import asyncio


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

    def _time(self) -> float:
        return self._real() + self._ahead_s
