"""Watching a line that readline edits: what is typed is seen soon, though nothing tells of it."""

import asyncio
import contextlib
from collections.abc import Callable

_SOON_S = 0.2
_LATEST_S = 30.0


class LineWatch:
    """Calls `changed` when `typed`, the line so far, is another one.

    A key at the terminal wakes the event loop, unless readline, in its thread, was faster to take it. So the
    line is looked at by itself as well: the sooner, the shorter ago it changed.
    """

    def __init__(self, *, typed: Callable[[], str], changed: Callable[[], None]) -> None:
        self._typed = typed
        self._changed = changed
        self._seen = ""
        self._changed_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Watch from now on."""
        loop = asyncio.get_running_loop()
        self._seen = self._typed()
        self._changed_at = loop.time()
        self._look_in(_SOON_S, loop)

    def stop(self) -> None:
        """The line has ended."""
        self._ignore_keys(asyncio.get_running_loop())
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_in(self, seconds: float, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(seconds, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        if (typed := self._typed()) != self._seen:
            self._seen, self._changed_at = typed, loop.time()
            self._changed()
        resting = loop.time() - self._changed_at
        self._look_in(max(_SOON_S, min(resting / 10, _LATEST_S)), loop)
        with contextlib.suppress(OSError, NotImplementedError):  # what can't be waited for, such as a file
            loop.add_reader(0, self._key_pressed, loop)

    def _key_pressed(self, loop: asyncio.AbstractEventLoop) -> None:
        self._ignore_keys(loop)  # until the line was looked at: the key stays there till readline takes it
        self._look_in(_SOON_S, loop)

    def _ignore_keys(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(OSError, NotImplementedError):
            loop.remove_reader(0)
