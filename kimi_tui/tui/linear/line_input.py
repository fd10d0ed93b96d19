"""Lines that the user types on the ordinary screen, with readline's editing where Python has it."""

import asyncio
import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Sequence

from kimi_tui.tui.linear.line_watch import LineWatch

Completer = Callable[[str], Sequence[str]]
"""What a line that has been begun may become."""


class LineInput:
    """Asks for a line at a time, in a thread; what is said meanwhile stands above what is being typed."""

    def __init__(self, complete: Completer) -> None:
        self._complete = complete
        self._prompt: str | None = None
        """The prompt that stands at the cursor; None while nothing is asked."""
        self._due = ""
        """What the line begins with, until it stands there."""
        self._watch: LineWatch | None = None
        self._attributes: list[object] | None = None

    def open(self, history: Sequence[str], typing: Callable[[], None]) -> None:
        """Set up editing, history and completion. `typing` is called soon after the line has changed."""
        with contextlib.suppress(ImportError):
            import termios

            with contextlib.suppress(termios.error):
                self._attributes = termios.tcgetattr(0)
        with contextlib.suppress(ImportError):
            import readline

            self._watch = LineWatch(typed=lambda: self.typed, changed=typing)
            readline.set_auto_history(False)
            for entry in history:
                readline.add_history(entry)
            readline.set_completer_delims(" \n")
            readline.set_completer(self._completion)
            readline.parse_and_bind(
                "bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete"
            )

    def close(self) -> None:
        """Leave the terminal as it was, also while a line is being asked for."""
        if self._attributes is not None:
            import termios

            with contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self._attributes)  # type: ignore[arg-type]

    def remember(self, line: str) -> None:
        """Let the user get at it by arrow up."""
        with contextlib.suppress(ImportError):
            import readline

            readline.add_history(line)

    @property
    def is_editable(self) -> bool:
        """Whether a line may begin with something, and what is typed of it is known before its end."""
        return self._watch is not None and sys.stdin.isatty() and sys.stdout.isatty()

    @property
    def typed(self) -> str:
        """What is typed of the line that is asked for."""
        return "" if self._prompt is None else self._due or _typed()

    async def ask(self, prompt: str, begun: str = "") -> str | None:
        """The line that the user types, where `begun` stands already; None at the end of the input."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[str | None] = loop.create_future()

        def settle(line: str | None) -> None:
            self._prompt = None
            if not answered.done():
                answered.set_result(line)

        def read() -> None:
            line: str | None = None
            with contextlib.suppress(EOFError, OSError, ValueError):
                line = input(prompt)
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, line)

        self._prompt = prompt
        watch = self._watch if self.is_editable else None
        if watch is not None:
            self._begin_with(begun)
            watch.start()
        threading.Thread(target=read, name="line", daemon=True).start()
        try:
            return await answered
        finally:
            if watch is not None:
                watch.stop()

    def _begin_with(self, begun: str) -> None:
        import readline

        def insert() -> None:
            if self._due:
                readline.insert_text(self._due)
                self._due = ""

        self._due = begun
        readline.set_startup_hook(insert)

    def typed_ahead(self) -> list[str]:
        """Whole lines that were typed while nobody asked."""
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
        """Write `text`, above the line that is being typed if one is."""
        if self._prompt is None:
            _write(text)
            return
        _write(f"\r\x1b[K{text}" if text.endswith("\n") else f"\r\x1b[K{text}\n")
        _write(f"{self._prompt}{_typed()}")

    def signal(self, sequence: str) -> None:
        """Write what shows nothing: the line that is being typed stays as it is."""
        _write(sequence)

    def _completion(self, word: str, state: int) -> str | None:
        import readline

        line = readline.get_line_buffer()[: readline.get_endidx()]
        begun = len(line) - len(word)
        found = [it[begun:] for it in self._complete(line) if it.startswith(line[:begun])]
        return found[state] if state < len(found) else None


def _typed() -> str:
    try:
        import readline
    except ImportError:
        return ""
    # Between two bytes of a letter, the first stands there alone.
    return readline.get_line_buffer().encode(errors="replace").decode()


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # the terminal is gone, and a signal says so, too
        sys.stdout.write(text)
        sys.stdout.flush()
