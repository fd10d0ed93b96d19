"""Partial coverage: whether, and why, only some files of a working directory are covered."""

import os
import time
from pathlib import Path

from kimi_tui.history.snapshots.change_detection import DetectedChanges
from kimi_tui.history.snapshots.entry import Entries


class PartialCoverage:
    """Coverage of one working directory. It is partial while full scans aren't possible."""

    def __init__(self, work_dir: Path, *, retry_s: float) -> None:
        """After a full scan that wasn't possible, the next one is tried `retry_s` seconds later."""
        self._retry_s = retry_s
        self.reason = _reason_for(work_dir)
        """Why files that are neither stored nor named by tools aren't covered; empty if all files are."""
        self._next_scan = float("inf") if self.reason else 0.0
        """Monotonic time from which the next full scan is tried."""
        self.is_slow = False
        """Whether coverage is partial because scans take too long."""
        self.change = ""
        """The reason for partial coverage that began or ended, until it is recorded."""

    @property
    def may_scan(self) -> bool:
        """Whether a full scan is tried now."""
        return time.monotonic() >= self._next_scan

    def limit(self, reason: str, *, is_slow: bool = False) -> None:
        """Cover only known files, and try a full scan again later."""
        if not self.reason:
            self.change = reason
        self.reason = reason
        self.is_slow |= is_slow
        self._next_scan = time.monotonic() + self._retry_s

    def resume(self, detected: DetectedChanges, known: Entries) -> None:
        """Cover all files again. Files that appeared while coverage was partial have unknown authors."""
        if not self.reason:
            return
        self.change, self.reason = self.reason, ""
        self.is_slow = False
        for path in [path for path in detected.changes if path not in known]:
            detected.coverage[path] = detected.changes.pop(path)


def _reason_for(work_dir: Path) -> str:
    real = os.path.realpath(work_dir)
    if real == os.path.realpath(Path.home()):
        return "the working directory is your home directory"
    return "the working directory is the root of the file system" if real == os.sep else ""
