"""What the terminal sends: keys, the mouse and pastes, read by a thread that sleeps until something comes.

Textual's own looks ten times a second whether an escape sequence has ended and whether it is to stop, and
ends the app when it reads what is not UTF-8.
"""

import logging
import os
import select
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from threading import Event
from typing import Any, Protocol

from textual import events
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.message import Message

logger = logging.getLogger(__name__)

_AT_ONCE = 64 * 1024
"""Bytes of one read."""


class InputDriver(Protocol):
    """What is used of Textual's drivers for terminals."""

    fileno: int
    exit_event: Event
    run_input_thread: Callable[[], None]
    cursor_origin: tuple[int, int] | None

    @property
    def is_inline(self) -> bool:
        """Whether the app stands below what the shell printed."""
        ...

    def process_message(self, message: Any) -> None:
        """Hand a message on."""
        ...


def sleep_until_input(driver: InputDriver, gone: Callable[[], object]) -> None:
    """Have `driver` read the terminal as `TerminalInput` does; `gone` is called when it can't be read."""
    stop = WakingEvent()
    driver.exit_event = stop
    driver.run_input_thread = TerminalInput(driver, stop, gone).run


class WakingEvent(Event):
    """An event that whoever waits for descriptors is woken by: `fileno` is readable while it is set."""

    def __init__(self) -> None:
        super().__init__()
        self._hears, self._rings = os.pipe()

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._hears

    def set(self) -> None:
        """Set it, and wake who waits."""
        if not self.is_set():
            super().set()
            os.write(self._rings, b"!")

    def clear(self) -> None:
        """Take it back."""
        if self.is_set():
            os.read(self._hears, 1)
            super().clear()


class TerminalInput:
    """Reads the terminal of `driver` until `stop` is set, or until the terminal is gone."""

    def __init__(self, driver: InputDriver, stop: WakingEvent, gone: Callable[[], object]) -> None:
        self._driver = driver
        self._stop = stop
        self._gone = gone

    def run(self) -> None:
        """Read, and hand on what was read; for a thread of its own."""
        parser = XTermParser()
        decode = getincrementaldecoder("utf-8")("replace").decode
        terminal = self._driver.fileno
        while not self._stop.is_set():
            readable, _, _ = select.select([terminal, self._stop.fileno()], [], [], _patience_s(parser))
            if terminal in readable:
                data = _read(terminal)
                if not data:
                    self._gone()
                    return
                if text := decode(data):  # the parser takes an empty one for the end
                    self._hand_on(parser.feed(text))
            self._hand_on(parser.tick())

    def _hand_on(self, messages: Iterable[Message]) -> None:
        driver = self._driver
        for message in messages:
            if driver.is_inline and isinstance(message, events.CursorPosition):
                driver.cursor_origin = (message.x, message.y)
            else:
                driver.process_message(message)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, _AT_ONCE)
    except OSError:
        logger.warning("the terminal can't be read any more", exc_info=True)
        return b""


def _patience_s(parser: XTermParser) -> float | None:
    """Seconds until what was read is taken for whole (an escape may be a key or begin a sequence)."""
    ends = parser._timeout_time
    return None if ends is None else max(0.0, ends - get_time())
