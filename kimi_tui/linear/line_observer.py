"""Detects changes to a line while readline edits it. Readline itself has no change notification."""

import asyncio
import contextlib
from typing import Protocol

_MIN_INTERVAL_S = 0.2
_MAX_INTERVAL_S = 30.0


class ObservedLine(Protocol):
    """A line that readline edits."""

    @property
    def current_text(self) -> str:
        """The text of the line."""
        ...

    def handle_change(self) -> None:
        """Handle that the text has changed."""
        ...


class LineObserver:
    """Notifies `line` when its text has changed.

    A key press wakes the event loop, unless readline's thread reads the key first. So a timer checks the
    line as well. After a change, it checks more often.
    """

    def __init__(self, line: ObservedLine) -> None:
        self._line = line
        self._last_text = ""
        self._changed_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start observing."""
        loop = asyncio.get_running_loop()
        self._last_text = self._line.current_text
        self._changed_at = loop.time()
        self._schedule_check(_MIN_INTERVAL_S, loop)

    def stop(self) -> None:
        """Stop observing."""
        self._ignore_keys(asyncio.get_running_loop())
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule_check(self, seconds: float, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(seconds, self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        if (text := self._line.current_text) != self._last_text:
            self._last_text, self._changed_at = text, loop.time()
            self._line.handle_change()
        idle_s = loop.time() - self._changed_at
        self._schedule_check(max(_MIN_INTERVAL_S, min(idle_s / 10, _MAX_INTERVAL_S)), loop)
        with contextlib.suppress(OSError, NotImplementedError):  # stdin may be a file
            loop.add_reader(0, self._handle_key, loop)

    def _handle_key(self, loop: asyncio.AbstractEventLoop) -> None:
        self._ignore_keys(loop)  # stdin stays readable until readline reads the key
        self._schedule_check(_MIN_INTERVAL_S, loop)

    def _ignore_keys(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(OSError, NotImplementedError):
            loop.remove_reader(0)
