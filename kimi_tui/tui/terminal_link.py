"""The link to the terminal: it may be slow, and it may break."""

import logging
from collections.abc import Callable
from typing import Any, Protocol

from textual.app import App
from textual.timer import Timer

from kimi_tui.tui.lent_terminal import is_lent

logger = logging.getLogger(__name__)

_MOST_WAITING = 8
"""Writes that the terminal has not taken; Textual's thread that writes them waits for it after thirty."""
_LOOK_AGAIN_S = 0.1
_LEAVES = "\x1b[?1049l"
"""What goes back to the normal screen, where some terminals keep drawing as on the other one."""


class Writable(Protocol):
    """Where a driver's text goes."""

    def write(self, text: str, /) -> int:
        """Write."""
        ...

    def flush(self) -> None:
        """Flush."""
        ...

    def fileno(self) -> int:
        """The descriptor."""
        ...

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        ...


class TerminalFile:
    """What a driver writes to. Once the terminal is gone nothing is written any more, and `gone` is called.

    Textual's writing thread would end with the first error, and whoever writes next would wait for ever.
    """

    def __init__(self, file: Writable, gone: Callable[[], object]) -> None:
        self._file = file
        self._gone = gone
        self._is_gone = False

    def write(self, text: str) -> None:
        """Write, as far as there is a terminal. It is left with a plain look."""
        self._attempt(lambda: self._file.write(text.replace(_LEAVES, f"\x1b[m{_LEAVES}")))

    def flush(self) -> None:
        """Flush, as far as there is a terminal."""
        self._attempt(self._file.flush)

    def fileno(self) -> int:
        """The descriptor of the file."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()

    def _attempt(self, act: Callable[[], object]) -> None:
        if self._is_gone:
            return
        try:
            act()
        except (OSError, ValueError):
            self._is_gone = True
            logger.warning("the terminal is gone", exc_info=True)
            self._gone()


def send_between_frames(app: App[Any], sequence: str) -> None:
    """Write what is no part of a frame: behind the frames that wait, never within one."""
    driver = app._driver
    if sequence and driver is not None and not app.is_headless and not is_lent(app):
        driver.write(sequence)
        driver.flush()


class FrameGate:
    """Holds frames back while the terminal is behind: what it then shows is the latest, not all of them.

    Otherwise the app, and the agent with it, would wait for a slow line or a terminal that was stopped.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._timer: Timer | None = None

    @property
    def is_shut(self) -> bool:
        """Whether a frame is to be left out; all of the screen is drawn as soon as it can be."""
        if not self._is_behind():
            return False
        if self._timer is None:
            self._timer = self._app.set_timer(_LOOK_AGAIN_S, self._look_again)
        return True

    def _look_again(self) -> None:
        self._timer = None
        if not self.is_shut:
            self._app.screen.refresh()

    def _is_behind(self) -> bool:
        writer = getattr(self._app._driver, "_writer_thread", None)
        return writer is not None and writer._queue.qsize() > _MOST_WAITING
