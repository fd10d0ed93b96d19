"""Line input on the normal screen, edited with readline if Python has it."""

import asyncio
import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from kimi_tui.linear.line_observer import LineObserver


class LineOwner(Protocol):
    """Reader of lines from a `LineInput`."""

    def complete_line(self, prefix: str) -> Sequence[str]:
        """Return the lines that start with `prefix`."""
        ...

    def handle_line_change(self) -> None:
        """Handle that the line being typed has changed."""
        ...


class LineInput:
    """Reads one line at a time in a thread. New output is printed above the line being typed."""

    def __init__(self) -> None:
        self._owner: LineOwner | None = None
        self._prompt: str | None = None
        """The prompt at the cursor. None while no line is being read."""
        self._prefill = ""
        """Text to insert into the line. Empty after readline has inserted it."""
        self._observer: LineObserver | None = None
        self._attributes: list[object] | None = None

    def open(self, history: Sequence[str], owner: LineOwner) -> None:
        """Set up editing, history and completion. `owner` is notified shortly after the line changes."""
        self._owner = owner
        with contextlib.suppress(ImportError):
            import termios

            with contextlib.suppress(termios.error):
                self._attributes = termios.tcgetattr(0)
        with contextlib.suppress(ImportError):
            import readline

            self._observer = LineObserver(self)
            readline.set_auto_history(False)
            for entry in history:
                readline.add_history(entry)
            readline.set_completer_delims(" \n")
            readline.set_completer(self._complete_word)
            readline.parse_and_bind(
                "bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete"
            )

    def close(self) -> None:
        """Restore the terminal's settings, even if a line is still being read."""
        if self._attributes is not None:
            import termios

            with contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self._attributes)  # type: ignore[arg-type]

    def add_history(self, line: str) -> None:
        """Add `line` to the readline history."""
        with contextlib.suppress(ImportError):
            import readline

            readline.add_history(line)

    @property
    def is_editable(self) -> bool:
        """Whether a line can be prefilled and read while it is being typed."""
        return self._observer is not None and sys.stdin.isatty() and sys.stdout.isatty()

    @property
    def current_text(self) -> str:
        """The text of the line being typed."""
        return "" if self._prompt is None else self._prefill or _readline_buffer()

    def handle_change(self) -> None:
        """Notify the owner that the line being typed has changed."""
        if self._owner is not None:
            self._owner.handle_line_change()

    async def ask(self, prompt: str, prefill: str = "") -> str | None:
        """Read a line that starts with `prefill`. Return None at the end of the input."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[str | None] = loop.create_future()

        def set_result(line: str | None) -> None:
            self._prompt = None
            if not result.done():
                result.set_result(line)

        def read() -> None:
            line: str | None = None
            with contextlib.suppress(EOFError, OSError, ValueError):
                line = input(prompt)
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(set_result, line)

        self._prompt = prompt
        observer = self._observer if self.is_editable else None
        if observer is not None:
            self._set_prefill(prefill)
            observer.start()
        threading.Thread(target=read, name="line", daemon=True).start()
        try:
            return await result
        finally:
            if observer is not None:
                observer.stop()

    def _set_prefill(self, prefill: str) -> None:
        import readline

        def insert() -> None:
            if self._prefill:
                readline.insert_text(self._prefill)
                self._prefill = ""

        self._prefill = prefill
        readline.set_startup_hook(insert)

    @contextlib.contextmanager
    def watch(self, notify: Callable[[], None]) -> Iterator[None]:
        """Call `notify` when a line has been typed while no line is being read."""
        loop = asyncio.get_running_loop()
        if not self.is_editable:
            yield
            return
        loop.add_reader(0, notify)
        try:
            yield
        finally:
            loop.remove_reader(0)

    def read_pending_lines(self) -> list[str]:
        """Return complete lines that were typed while no line was being read."""
        lines: list[str] = []
        while self._prompt is None and select.select([0], [], [], 0)[0]:
            try:
                data = os.read(0, 65_536)
            except OSError:
                break
            if not data:
                break
            lines += [line for line in data.decode(errors="replace").split("\n") if line.strip()]
        return lines

    def write(self, text: str) -> None:
        """Write `text`, above the line being typed if there is one."""
        if self._prompt is None:
            _write(text)
            return
        _write(f"\r\x1b[K{text}" if text.endswith("\n") else f"\r\x1b[K{text}\n")
        _write(f"{self._prompt}{_readline_buffer()}")

    def send(self, sequence: str) -> None:
        """Write a control sequence that leaves the line being typed as it is."""
        _write(sequence)

    def _complete_word(self, word: str, state: int) -> str | None:
        import readline

        line = readline.get_line_buffer()[: readline.get_endidx()]
        start = len(line) - len(word)
        lines = self._owner.complete_line(line) if self._owner is not None else ()
        matches = [it[start:] for it in lines if it.startswith(line[:start])]
        return matches[state] if state < len(matches) else None


def _readline_buffer() -> str:
    try:
        import readline
    except ImportError:
        return ""
    # While a multi-byte character is being read, the buffer may end in part of it.
    return readline.get_line_buffer().encode(errors="replace").decode()


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # the terminal is gone; SIGHUP ends the process
        sys.stdout.write(text)
        sys.stdout.flush()
