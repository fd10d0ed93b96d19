"""The thread that reads the terminal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

import pytest
from textual import events

from kimi_tui.tui.terminal.input import SelectableEvent, TerminalInput
from tests.timeouts import TEST_TIMEOUT_S


@dataclass
class FakeDriver:
    """The parts of a driver that reading needs. Received messages can be awaited."""

    fileno: int
    exit_event: Event = field(default_factory=Event)
    is_inline: bool = False
    cursor_origin: tuple[int, int] | None = None
    messages: SimpleQueue[Any] = field(default_factory=SimpleQueue)

    def run_input_thread(self) -> None:
        raise AssertionError("Textual's own input thread was started")

    def process_message(self, message: Any) -> None:
        self.messages.put(message)

    def next(self) -> Any:
        return self.messages.get(timeout=TEST_TIMEOUT_S)


class FakeTerminal:
    """A pipe that stands in for a terminal, with the thread that reads it."""

    def __init__(self, *, is_inline: bool = False) -> None:
        read_fd, self._write_fd = os.pipe()
        self.driver = FakeDriver(read_fd, is_inline=is_inline)
        self.stop = SelectableEvent()
        self.is_lost = Event()
        self._thread = Thread(target=TerminalInput(self.driver, self.stop, self).run)
        self._thread.start()

    def report_terminal_loss(self) -> None:
        self.is_lost.set()

    def send(self, data: bytes) -> None:
        os.write(self._write_fd, data)

    def hang_up(self) -> None:
        os.close(self._write_fd)
        self._write_fd = -1

    def wait_for_exit(self) -> None:
        self._thread.join(TEST_TIMEOUT_S)
        assert not self._thread.is_alive()

    def close(self) -> None:
        self.stop.set()
        self.wait_for_exit()
        os.close(self.driver.fileno)
        if self._write_fd >= 0:
            os.close(self._write_fd)


@contextmanager
def connect_terminal(*, is_inline: bool = False) -> Iterator[FakeTerminal]:
    terminal = FakeTerminal(is_inline=is_inline)
    try:
        yield terminal
    finally:
        terminal.close()


def read_keys(terminal: FakeTerminal, count: int) -> list[str]:
    return [terminal.driver.next().key for _ in range(count)]


def test_a_character_split_across_reads_is_one_key() -> None:
    with connect_terminal() as terminal:
        for byte in "字".encode():
            terminal.send(bytes([byte]))
        assert terminal.driver.next().character == "字"


def test_a_lone_escape_is_the_escape_key() -> None:
    with connect_terminal() as terminal:
        terminal.send(b"\x1b")
        assert read_keys(terminal, 1) == ["escape"]
        terminal.send(b"\x1b[A")
        assert read_keys(terminal, 1) == ["up"]


def test_invalid_utf_8_is_ignored() -> None:
    with connect_terminal() as terminal:
        terminal.send(b"a\xe4\xff")
        terminal.send(b"b")
        received = read_keys(terminal, 1)
        while received[-1] != "b":
            received += read_keys(terminal, 1)
        assert received[0] == "a"


def test_reading_stops_immediately_without_input() -> None:
    with connect_terminal() as terminal:
        terminal.stop.set()
        terminal.wait_for_exit()
        assert not terminal.is_lost.is_set()


def test_the_event_can_be_set_and_cleared_repeatedly() -> None:
    stop = SelectableEvent()
    for _ in range(3):
        stop.set()
        stop.set()
        assert stop.is_set()
        stop.clear()
        stop.clear()
        assert not stop.is_set()


def test_a_lost_terminal_is_reported() -> None:
    with connect_terminal() as terminal:
        terminal.send(b"x")
        terminal.hang_up()
        assert read_keys(terminal, 1) == ["x"]
        assert terminal.is_lost.wait(TEST_TIMEOUT_S)
        terminal.wait_for_exit()


@pytest.mark.parametrize("is_inline", [True, False])
def test_an_inline_app_takes_its_origin_from_the_cursor_position(is_inline: bool) -> None:
    with connect_terminal(is_inline=is_inline) as terminal:
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
