"""The voice: words on the way to the terminal."""

from collections.abc import Callable


class Voice:
    """Where the words go: text as it comes, and lines of their own."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._is_within = False

    def flow(self, text: str) -> None:
        """Text that goes on where the last one ended."""
        if text:
            self._write(text)
            self._is_within = not text.endswith("\n")

    def line(self, text: str) -> None:
        """A line, or several."""
        self.end_line()
        self._write(f"{text}\n")

    def end_line(self) -> None:
        """Whatever comes next begins a line."""
        if self._is_within:
            self._write("\n")
            self._is_within = False
