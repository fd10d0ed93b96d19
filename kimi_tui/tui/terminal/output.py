"""Output to a terminal that may be slow or get lost."""

import logging
from collections.abc import Callable
from typing import Any, Protocol

from textual.app import App
from textual.timer import Timer

from kimi_tui.tui.terminal.suspend import is_suspended

logger = logging.getLogger(__name__)

_MAX_PENDING_WRITES = 8
"""Pending writes that count as behind. Textual's writer thread blocks the app after thirty."""
_RECHECK_S = 0.1
_LEAVE_ALT_SCREEN = "\x1b[?1049l"
"""Returns to the normal screen. Some terminals keep the style of the alternate one."""


class Writable(Protocol):
    """A file that a driver writes to."""

    def write(self, text: str, /) -> int:
        """Write `text`."""
        ...

    def flush(self) -> None:
        """Flush the file."""
        ...

    def fileno(self) -> int:
        """Return the descriptor."""
        ...

    def isatty(self) -> bool:
        """Return whether the file is a terminal."""
        ...


class TerminalFile:
    """File for a driver. Once the terminal is lost, nothing is written and `on_lost` is called.

    Without it, Textual's writer thread would end with the first error, and the next write would block
    forever.
    """

    def __init__(self, file: Writable, on_lost: Callable[[], object]) -> None:
        self._file = file
        self._on_lost = on_lost
        self._is_lost = False

    def write(self, text: str) -> None:
        """Write `text` unless the terminal is lost. The style is reset before the app leaves the alternate
        screen.
        """
        self._attempt(lambda: self._file.write(text.replace(_LEAVE_ALT_SCREEN, f"\x1b[m{_LEAVE_ALT_SCREEN}")))

    def flush(self) -> None:
        """Flush the file unless the terminal is lost."""
        self._attempt(self._file.flush)

    def fileno(self) -> int:
        """Return the file's descriptor."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Return whether the file is a terminal."""
        return self._file.isatty()

    def _attempt(self, operation: Callable[[], object]) -> None:
        if self._is_lost:
            return
        try:
            operation()
        except (OSError, ValueError):
            self._is_lost = True
            logger.warning("the terminal was lost", exc_info=True)
            self._on_lost()


def send_between_frames(app: App[Any], sequence: str) -> None:
    """Write a sequence that isn't part of a frame: after pending frames, never within one."""
    driver = app._driver
    if sequence and driver is not None and not app.is_headless and not is_suspended(app):
        driver.write(sequence)
        driver.flush()


class BackpressureGate:
    """Drops frames while the terminal is behind, so that it shows the latest frame instead of all of them.

    Otherwise a slow connection or a stopped terminal would block the app, and the agent with it.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._timer: Timer | None = None

    @property
    def is_closed(self) -> bool:
        """Whether to drop a frame. The whole screen is drawn once the terminal has caught up."""
        if not self._is_behind():
            return False
        if self._timer is None:
            self._timer = self._app.set_timer(_RECHECK_S, self._recheck)
        return True

    def _recheck(self) -> None:
        self._timer = None
        if not self.is_closed:
            self._app.screen.refresh()

    def _is_behind(self) -> bool:
        writer = getattr(self._app._driver, "_writer_thread", None)
        return writer is not None and writer._queue.qsize() > _MAX_PENDING_WRITES
