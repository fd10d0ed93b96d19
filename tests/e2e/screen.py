"""The program on a terminal screen, as a person sees it: cells, not bytes."""

import time
from collections.abc import Callable

import pexpect
import pyte

from tests.e2e.program import KIMI_TUI, Program

KEYS = {"enter": "\r", "escape": "\x1b", "ctrl+c": "\x03", "ctrl+d": "\x04", "ctrl+s": "\x13", "f1": "\x1bOP"}


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
        self._child = pexpect.spawn(
            binary,
            list(arguments),
            cwd=str(program.work_dir),
            env={**program.environment(), "TERM": "xterm-256color", "COLORTERM": "truecolor"},  # type: ignore[arg-type]
            dimensions=(lines, columns),
        )
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """What the screen shows now, a line a row."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def title(self) -> str:
        """The title that the terminal's window was given."""
        return str(self._screen.title)

    @property
    def pid(self) -> int:
        """The program's process."""
        return int(self._child.pid)

    def until(self, shown: str | Callable[[str], bool], *, seconds: float = 30) -> str:
        """Wait until the screen shows a text, or satisfies a test, and return it."""
        deadline = time.monotonic() + seconds
        while not (shown(self.text) if callable(shown) else shown in self.text):
            assert time.monotonic() < deadline, f"{shown!r} never showed on:\n{self.text}"
            try:
                self._stream.feed(self._child.read_nonblocking(65536, timeout=0.2))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                raise AssertionError(f"the program ended before {shown!r} showed:\n{self.text}") from None
        return self.text

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

    def exit_code(self) -> int:
        """Wait for the program's end."""
        self._child.expect(pexpect.EOF)
        self._stream.feed(self._child.before or b"")
        self._child.close()
        status = self._child.exitstatus
        return int(status) if status is not None else -int(self._child.signalstatus or 0)

    def close(self) -> None:
        """Kill the program if it still runs."""
        self._child.close(force=True)
