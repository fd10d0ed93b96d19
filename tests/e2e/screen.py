"""The program on a terminal screen, as a person sees it: cells, not bytes."""

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
from tests.patience import PATIENCE_S

KEYS = {"enter": "\r", "escape": "\x1b", "ctrl+c": "\x03", "ctrl+d": "\x04", "ctrl+s": "\x13", "f1": "\x1bOP"}

_MODES = [
    (b"\x1b[?1049h", b"\x1b[?1049l"),
    (b"\x1b[?25l", b"\x1b[?25h"),
    (b"\x1b[?1000h", b"\x1b[?1000l"),
    (b"\x1b[?1003h", b"\x1b[?1003l"),
    (b"\x1b[?2004h", b"\x1b[?2004l"),
]
"""What a program sets on a terminal, and how it takes it back: screen, cursor, mouse, pasting."""


def _of_a_new_terminal() -> list[Any]:
    """The attributes that the system gives a terminal."""
    ours, theirs = pty.openpty()
    try:
        return termios.tcgetattr(ours)
    finally:
        os.close(ours)
        os.close(theirs)


class Screen:
    """`kimi-tui` in a pseudo-terminal, drawn by pyte."""

    def __init__(
        self,
        program: Program,
        *arguments: str,
        columns: int = 100,
        lines: int = 30,
        binary: str = KIMI_TUI,
    ) -> None:
        environment = {"TERM": "xterm-256color", "COLORTERM": "truecolor", **program.environment()}
        forked = partial(ForkedSpawn, umask=program.umask)
        self._child = (forked if binary == KIMI_TUI else pexpect.spawn)(
            binary,
            list(arguments),
            cwd=str(program.work_dir),
            env=environment,  # type: ignore[arg-type]
            dimensions=(lines, columns),
        )
        self._before = _of_a_new_terminal()  # the program may have changed its own already
        self._received = b""
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """What the screen shows now, a line a row."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def sent(self) -> str:
        """All that the program has written to the terminal."""
        return self._received.decode(errors="replace")

    @property
    def title(self) -> str:
        """The title that the terminal's window was given."""
        return str(self._screen.title)

    @property
    def pid(self) -> int:
        """The program's process."""
        return int(self._child.pid)

    def until(self, shown: str | Callable[[str], bool], *, seconds: float = PATIENCE_S) -> str:
        """Wait until the screen shows a text, or satisfies a test, and return it."""
        deadline = time.monotonic() + seconds
        while not (shown(self.text) if callable(shown) else shown in self.text):
            assert time.monotonic() < deadline, f"{shown!r} never showed on:\n{self.text}"
            try:
                self._receive(self._child.read_nonblocking(65536, timeout=0.2))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                raise AssertionError(f"the program ended before {shown!r} showed:\n{self.text}") from None
        return self.text

    def rest(self, *, quiet_s: float = 1.0) -> str:
        """Wait until nothing more is drawn, and return the text: what is to be clicked stays where it is.

        A program that draws nothing while it waits for a processor isn't at rest.
        """
        deadline = time.monotonic() + PATIENCE_S
        while self.draws(within_s=quiet_s) or is_busy(self.pid):
            assert time.monotonic() < deadline, f"it never comes to rest:\n{self.text}"
        return self.text

    def draws(self, *, within_s: float) -> bool:
        """Whether the program draws something so soon, which is taken in."""
        try:
            self._receive(self._child.read_nonblocking(65536, timeout=within_s))
        except pexpect.TIMEOUT:
            return False
        return True

    def type(self, text: str) -> None:
        """Type `text`."""
        self._child.send(text)

    def press(self, *keys: str) -> None:
        """Press keys by name; a single character is itself."""
        for key in keys:
            self._child.send(KEYS.get(key, key))

    def resize(self, columns: int, lines: int) -> None:
        """Make the window larger or smaller."""
        self._screen.resize(lines, columns)
        self._child.setwinsize(lines, columns)

    def wait(self) -> None:
        """Wait for the end of a program whose terminal has vanished."""
        self._child.wait()

    def exit_code(self) -> int:
        """Wait for the program's end."""
        self._child.expect(pexpect.EOF, timeout=PATIENCE_S)
        self._receive(self._child.before or b"")
        self._after = termios.tcgetattr(self._child.fileno())
        self._child.wait()  # what is still ending would be signalled by `close`, and end otherwise
        self._child.close()
        status = self._child.exitstatus
        return int(status) if status is not None else -int(self._child.signalstatus or 0)

    def assert_terminal_is_restored(self) -> None:
        """That the terminal, when the program has ended, is as it was: modes, screen, cursor and mouse."""
        input_flags, output_flags, _, local_flags = self._after[:4]
        assert [input_flags, output_flags, local_flags] == [*self._before[:2], self._before[3]]
        for begins, ends in _MODES:
            assert self._received.rfind(ends) >= self._received.rfind(begins), f"left {begins!r}"

    def vanish(self) -> None:
        """Close the terminal, as a window does that is closed; the program runs on until it notices."""
        self._child.ptyproc.fileobj.close()

    def _receive(self, data: bytes) -> None:
        self._received += data
        self._stream.feed(data)

    def close(self) -> None:
        """Kill the program if it still runs."""
        if not self._child.closed and self._child.isalive():
            self._child.kill(signal.SIGKILL)  # gently first would take longer than pexpect waits
            self._child.wait()
        self._child.close(force=True)


OpenScreen = Callable[..., Screen]
"""Opens the program on a screen that is closed in the end."""
