"""Reads keys, mouse events and pastes from the terminal, in a thread that sleeps until input arrives.

Textual's own input thread polls ten times a second, and ends the app when it reads invalid UTF-8.
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

from kimi_tui.tui.terminal.output import TerminalOwner

logger = logging.getLogger(__name__)

_READ_BYTES = 64 * 1024
"""Maximum bytes per read."""


class InputDriver(Protocol):
    """The parts of Textual's terminal drivers that are used here."""

    fileno: int
    exit_event: Event
    run_input_thread: Callable[[], None]
    cursor_origin: tuple[int, int] | None

    @property
    def is_inline(self) -> bool:
        """Whether the app is drawn below the shell's output."""
        ...

    def process_message(self, message: Any) -> None:
        """Forward a message to the app."""
        ...


def install_terminal_input(driver: InputDriver, owner: TerminalOwner) -> None:
    """Replace the input thread of `driver`. `owner` is notified when the terminal can't be read."""
    stop = SelectableEvent()
    driver.exit_event = stop
    driver.run_input_thread = TerminalInput(driver, stop, owner).run


class SelectableEvent(Event):
    """An event for use with `select`: `fileno` is readable while the event is set."""

    def __init__(self) -> None:
        super().__init__()
        self._read_fd, self._write_fd = os.pipe()

    def fileno(self) -> int:
        """Return the descriptor to wait for."""
        return self._read_fd

    def set(self) -> None:
        """Set the event and wake the waiting thread."""
        if not self.is_set():
            super().set()
            os.write(self._write_fd, b"!")

    def clear(self) -> None:
        """Clear the event."""
        if self.is_set():
            os.read(self._read_fd, 1)
            super().clear()


class TerminalInput:
    """Reads the terminal of `driver` until `stop` is set or the terminal is lost."""

    def __init__(self, driver: InputDriver, stop: SelectableEvent, owner: TerminalOwner) -> None:
        self._driver = driver
        self._stop = stop
        self._owner = owner

    def run(self) -> None:
        """Read input and forward it. Runs in its own thread."""
        parser = XTermParser()
        decode = getincrementaldecoder("utf-8")("replace").decode
        terminal = self._driver.fileno
        while not self._stop.is_set():
            readable, _, _ = select.select([terminal, self._stop.fileno()], [], [], _parser_timeout_s(parser))
            if terminal in readable:
                data = _read(terminal)
                if not data:
                    self._owner.report_terminal_loss()
                    return
                if text := decode(data):  # an empty string would end the parser
                    self._dispatch(parser.feed(text))
            self._dispatch(parser.tick())

    def _dispatch(self, messages: Iterable[Message]) -> None:
        driver = self._driver
        for message in messages:
            if driver.is_inline and isinstance(message, events.CursorPosition):
                driver.cursor_origin = (message.x, message.y)
            else:
                driver.process_message(message)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, _READ_BYTES)
    except OSError:
        logger.warning("can't read the terminal", exc_info=True)
        return b""


def _parser_timeout_s(parser: XTermParser) -> float | None:
    """Return the seconds until pending input counts as complete: an escape may be a key or begin a
    sequence.
    """
    deadline = parser._timeout_time
    return None if deadline is None else max(0.0, deadline - get_time())
