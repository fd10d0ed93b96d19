"""What a terminal sends is read whole, however it comes; nothing is done while nothing comes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

import pytest
from textual import events

from kimi_tui.tui.terminal_input import TerminalInput, WakingEvent
from tests.patience import PATIENCE_S


@dataclass
class Driver:
    """As much of a driver as reading needs; what it is handed can be waited for."""

    fileno: int
    exit_event: Event = field(default_factory=Event)
    is_inline: bool = False
    cursor_origin: tuple[int, int] | None = None
    messages: SimpleQueue[Any] = field(default_factory=SimpleQueue)

    def run_input_thread(self) -> None:
        raise AssertionError("Textual's own thread")

    def process_message(self, message: Any) -> None:
        self.messages.put(message)

    def next(self) -> Any:
        return self.messages.get(timeout=PATIENCE_S)


class Terminal:
    """Its end of the line, and what the other end makes of it."""

    def __init__(self, *, is_inline: bool = False) -> None:
        reads, self._writes = os.pipe()
        self.driver = Driver(reads, is_inline=is_inline)
        self.stop = WakingEvent()
        self.is_gone = Event()
        self._thread = Thread(target=TerminalInput(self.driver, self.stop, self.is_gone.set).run)
        self._thread.start()

    def send(self, data: bytes) -> None:
        os.write(self._writes, data)

    def hang_up(self) -> None:
        os.close(self._writes)
        self._writes = -1

    def wait_for_the_end(self) -> None:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def close(self) -> None:
        self.stop.set()
        self.wait_for_the_end()
        os.close(self.driver.fileno)
        if self._writes >= 0:
            os.close(self._writes)


@contextmanager
def connected(*, is_inline: bool = False) -> Iterator[Terminal]:
    terminal = Terminal(is_inline=is_inline)
    try:
        yield terminal
    finally:
        terminal.close()


def keys(terminal: Terminal, count: int) -> list[str]:
    return [terminal.driver.next().key for _ in range(count)]


def test_a_letter_that_comes_in_pieces_is_one_key() -> None:
    with connected() as terminal:
        first, *rest = (bytes([byte]) for byte in "字".encode())
        terminal.send(first)
        for piece in rest:
            terminal.send(piece)
        assert terminal.driver.next().character == "字"


def test_an_escape_that_nothing_follows_is_the_escape_key() -> None:
    with connected() as terminal:
        terminal.send(b"\x1b")
        assert keys(terminal, 1) == ["escape"]
        terminal.send(b"\x1b[A")
        assert keys(terminal, 1) == ["up"]


def test_bytes_that_are_no_utf_8_harm_nothing() -> None:
    with connected() as terminal:
        terminal.send(b"a\xe4\xff")
        terminal.send(b"b")
        received = keys(terminal, 1)
        while received[-1] != "b":
            received += keys(terminal, 1)
        assert received[0] == "a"


def test_reading_ends_at_once_when_it_is_told_to_though_nothing_comes() -> None:
    with connected() as terminal:
        terminal.stop.set()
        terminal.wait_for_the_end()
        assert not terminal.is_gone.is_set()


def test_it_can_be_told_to_stop_again_and_again() -> None:
    stop = WakingEvent()
    for _ in range(3):
        stop.set()
        stop.set()
        assert stop.is_set()
        stop.clear()
        stop.clear()
        assert not stop.is_set()


def test_a_terminal_that_hangs_up_is_noticed() -> None:
    with connected() as terminal:
        terminal.send(b"x")
        terminal.hang_up()
        assert keys(terminal, 1) == ["x"]
        assert terminal.is_gone.wait(PATIENCE_S)
        terminal.wait_for_the_end()


@pytest.mark.parametrize("is_inline", [True, False])
def test_below_the_shell_the_place_of_the_cursor_tells_where_the_app_begins(is_inline: bool) -> None:
    with connected(is_inline=is_inline) as terminal:
        terminal.send(b"\x1b[7;3Rx")
        message = terminal.driver.next()
        if is_inline:
            assert terminal.driver.cursor_origin == (2, 6)
        else:
            assert isinstance(message, events.CursorPosition)
            message = terminal.driver.next()
        assert message.key == "x"
        with pytest.raises(Empty):
            terminal.driver.messages.get_nowait()
