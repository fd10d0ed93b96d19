"""Deadline of a scan: a cancellation token with a time limit and progress reports."""

import threading
import time
from typing import Protocol


class ScanCanceled(Exception):
    """The scan was canceled."""


class DeadlineExceeded(Exception):
    """The scan exceeded its time limit; the message is the limit."""


class ScanProgress(Protocol):
    """Receives the progress of a scan, in the scan's thread."""

    def report(self, done: int, total: int | None) -> None:
        """Report the amount of work done, and the total if known."""
        ...


class ScanDeadline:
    """Time limit of a scan, checked repeatedly in the scan's thread. Any thread may call `cancel`."""

    def __init__(self, *, limit_s: float | None = None, progress: ScanProgress | None = None) -> None:
        self._limit_s = limit_s
        now = time.monotonic()
        self._halfway = now + limit_s / 2 if limit_s is not None else None
        self._deadline = now + limit_s if limit_s is not None else None
        self._progress = progress
        self._canceled = threading.Event()

    def cancel(self) -> None:
        """Cancel the scan."""
        self._canceled.set()

    @property
    def is_half_over(self) -> bool:
        """Whether more than half of the time has passed, so that nothing long should be started."""
        return self._halfway is not None and time.monotonic() > self._halfway

    def check(self, done: int, total: int | None = None) -> None:
        """Report progress. Raises ScanCanceled, DeadlineExceeded."""
        if self._canceled.is_set():
            raise ScanCanceled
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise DeadlineExceeded(f"{self._limit_s:g} s")
        if self._progress is not None:
            self._progress.report(done, total)
