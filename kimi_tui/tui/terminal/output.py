"""Output to a terminal that may be slow or get lost."""

import logging
from typing import Any, Protocol

from textual.app import App
from textual.timer import Timer

from kimi_tui.tui.terminal.suspend import is_suspended

logger = logging.getLogger(__name__)

_MAX_PENDING_WRITES = 8
"""Number of pending writes from which the terminal is behind. Textual blocks the app at thirty."""
_RECHECK_S = 0.1
_LEAVE_ALT_SCREEN = "\x1b[?1049l"
"""Returns to the normal screen. Some terminals keep the style of the alternate screen."""


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


class TerminalOwner(Protocol):
    """Receiver of the notification that the terminal is gone."""

    def report_terminal_loss(self) -> None:
        """Handle that the terminal can't be read or written. Called in any thread."""


class TerminalFile:
    """File for a driver. Once the terminal is lost, nothing is written and `owner` is notified.

    Otherwise, Textual's writer thread would end at the first error, and the next write would block forever.
    """

    def __init__(self, file: Writable, owner: TerminalOwner) -> None:
        self._file = file
        self._owner = owner
        self._is_lost = False

    def write(self, text: str) -> None:
        """Write `text` unless the terminal is lost. The style is reset before the app leaves the alternate
        screen.
        """
        if not self._is_lost:
            try:
                self._file.write(text.replace(_LEAVE_ALT_SCREEN, f"\x1b[m{_LEAVE_ALT_SCREEN}"))
            except (OSError, ValueError) as error:
                self._handle_loss(error)

    def flush(self) -> None:
        """Flush the file unless the terminal is lost."""
        if not self._is_lost:
            try:
                self._file.flush()
            except (OSError, ValueError) as error:
                self._handle_loss(error)

    def fileno(self) -> int:
        """Return the file's descriptor."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Return whether the file is a terminal."""
        return self._file.isatty()

    def _handle_loss(self, error: Exception) -> None:
        self._is_lost = True
        logger.warning("the terminal was lost: %s", error)
        self._owner.report_terminal_loss()


class SequenceSender:
    """Writes sequences that aren't part of a frame: after pending frames, never within one."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app

    def send(self, sequence: str) -> None:
        """Write `sequence`, unless the app has no terminal or is suspended."""
        driver = self._app._driver
        if sequence and driver is not None and not self._app.is_headless and not is_suspended(self._app):
            driver.write(sequence)
            driver.flush()


class BackpressureGate:
    """Drops frames while the terminal is behind, so that it skips to the latest frame.

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
