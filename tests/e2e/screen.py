"""The program on an emulated terminal screen. Tests read its cells, not the bytes."""

import os
import pty
import signal
import termios
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pexpect
import pyte

from tests.e2e.forked_terminal import ForkedSpawn
from tests.e2e.processes import is_busy
from tests.e2e.program import KIMI_TUI, Program
from tests.timeouts import TEST_TIMEOUT_S

KEYS = {"enter": "\r", "escape": "\x1b", "ctrl+c": "\x03", "ctrl+d": "\x04", "ctrl+s": "\x13", "f1": "\x1bOP"}

_MODES = [
    (b"\x1b[?1049h", b"\x1b[?1049l"),
    (b"\x1b[?25l", b"\x1b[?25h"),
    (b"\x1b[?1000h", b"\x1b[?1000l"),
    (b"\x1b[?1003h", b"\x1b[?1003l"),
    (b"\x1b[?2004h", b"\x1b[?2004l"),
]
"""Escape sequences that set a mode and reset it: alternate screen, cursor, mouse, bracketed paste."""


def _default_attributes() -> list[Any]:
    """Return the attributes of a new terminal."""
    parent_fd, child_fd = pty.openpty()
    try:
        return termios.tcgetattr(parent_fd)
    finally:
        os.close(parent_fd)
        os.close(child_fd)


class Screen:
    """`kimi-tui` in a pseudo-terminal that pyte emulates."""

    def __init__(
        self,
        program: Program,
        *arguments: str,
        columns: int = 100,
        lines: int = 30,
        binary: str = KIMI_TUI,
    ) -> None:
        environment = {"TERM": "xterm-256color", "COLORTERM": "truecolor", **program.environment()}
        spawn_fork = partial(ForkedSpawn, umask=program.umask)
        self._child = (spawn_fork if binary == KIMI_TUI else pexpect.spawn)(
            binary,
            list(arguments),
            cwd=str(program.work_dir),
            env=environment,  # type: ignore[arg-type]
            dimensions=(lines, columns),
        )
        self._before = _default_attributes()  # the program may have changed those of its terminal already
        self._received = b""
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """Current text of the screen, one line per row."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def sent(self) -> str:
        """Everything that the program has written to the terminal."""
        return self._received.decode(errors="replace")

    @property
    def title(self) -> str:
        """Title of the terminal window."""
        return str(self._screen.title)

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return int(self._child.pid)

    def wait_for(self, expected: str | Callable[[str], bool], *, seconds: float = TEST_TIMEOUT_S) -> str:
        """Wait until the screen shows a text or satisfies a predicate. Return the text of the screen."""
        deadline = time.monotonic() + seconds
        while not (expected(self.text) if callable(expected) else expected in self.text):
            assert time.monotonic() < deadline, f"timed out waiting for {expected!r} on:\n{self.text}"
            try:
                self._receive(self._child.read_nonblocking(65536, timeout=0.2))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                raise AssertionError(
                    f"the program exited before it showed {expected!r}:\n{self.text}"
                ) from None
        return self.text

    def wait_until_idle(self, *, quiet_s: float = 1.0) -> str:
        """Wait until the program has drawn nothing for `quiet_s` seconds and isn't busy. Return the text.

        Waiting for a processor counts as busy. Use this before a click, so that its target doesn't move.
        """
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while self.has_output_within(within_s=quiet_s) or is_busy(self.pid):
            assert time.monotonic() < deadline, f"still busy:\n{self.text}"
        return self.text

    def has_output_within(self, *, within_s: float) -> bool:
        """Return whether the program writes output within `within_s` seconds, and read that output."""
        try:
            self._receive(self._child.read_nonblocking(65536, timeout=within_s))
        except pexpect.TIMEOUT:
            return False
        return True

    def type(self, text: str) -> None:
        """Send `text` as keystrokes."""
        self._child.send(text)

    def press(self, *keys: str) -> None:
        """Press keys by name. A single character stands for itself."""
        for key in keys:
            self._child.send(KEYS.get(key, key))

    def resize(self, columns: int, lines: int) -> None:
        """Resize the window."""
        self._screen.resize(lines, columns)
        self._child.setwinsize(lines, columns)

    def wait(self) -> None:
        """Wait for the exit of a program whose terminal is closed."""
        self._child.wait()

    def exit_code(self) -> int:
        """Wait for the program to exit. Return its exit code, or the negated number of the signal that
        ended it.
        """
        self._child.expect(pexpect.EOF, timeout=TEST_TIMEOUT_S)
        self._receive(self._child.before or b"")
        self._after = termios.tcgetattr(self._child.fileno())
        self._child.wait()  # otherwise `close` would signal a program that is still exiting
        self._child.close()
        status = self._child.exitstatus
        return int(status) if status is not None else -int(self._child.signalstatus or 0)

    def assert_terminal_is_restored(self) -> None:
        """Assert that the program has restored the terminal's modes, screen, cursor and mouse."""
        input_flags, output_flags, _, local_flags = self._after[:4]
        assert [input_flags, output_flags, local_flags] == [*self._before[:2], self._before[3]]
        for set_mode, reset_mode in _MODES:
            assert self._received.rfind(reset_mode) >= self._received.rfind(set_mode), (
                f"still set: {set_mode!r}"
            )

    def close_terminal(self) -> None:
        """Close the terminal, like closing its window. The program runs until it notices."""
        self._child.ptyproc.fileobj.close()

    def _receive(self, data: bytes) -> None:
        self._received += data
        self._stream.feed(data)

    def close(self) -> None:
        """Kill the program if it still runs, and close the terminal."""
        if not self._child.closed and self._child.isalive():
            self._child.kill(signal.SIGKILL)  # a graceful exit could take longer than pexpect waits
            self._child.wait()
        self._child.close(force=True)


OpenScreen = Callable[..., Screen]
"""Opens the program on a screen, which the fixture closes."""
