"""Patience: how long a look at the files may take, and whether anybody still waits for it."""

import threading
import time
from collections.abc import Callable


class Stopped(Exception):
    """Nobody waits for the look any more."""


class TookTooLong(Exception):
    """The look took longer than it may; the text says how long that is."""


class Patience:
    """Asked again and again during a look, from its thread; `stop` may be called from another."""

    def __init__(
        self, *, limit_s: float | None = None, report: Callable[[int, int | None], None] | None = None
    ) -> None:
        self._limit_s = limit_s
        now = time.monotonic()
        self._halfway = now + limit_s / 2 if limit_s is not None else None
        self._deadline = now + limit_s if limit_s is not None else None
        self._report = report
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Give the look up."""
        self._stopped.set()

    @property
    def is_half_over(self) -> bool:
        """Whether so little time is left that nothing long should be begun."""
        return self._halfway is not None and time.monotonic() > self._halfway

    def check(self, done: int, total: int | None = None) -> None:
        """Tell how far the look is. Raises Stopped, TookTooLong."""
        if self._stopped.is_set():
            raise Stopped
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise TookTooLong(f"{self._limit_s:g} s")
        if self._report is not None:
            self._report(done, total)
