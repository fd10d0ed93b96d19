"""Position in a text that is parsed as bash."""

import re

_BLANKS = " \t"


class UnparsableCommand(Exception):
    """Raised for text whose meaning isn't certain; the message gives the reason."""


class Cursor:
    """Position in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.in_substitution = 0
        """Number of enclosing `$(` and `<(`."""

    @property
    def at_end(self) -> bool:
        """Whether the end of the text is reached."""
        return self.at >= len(self.text)

    def peek(self, count: int = 1) -> str:
        """Return the next `count` characters, fewer at the end of the text."""
        return self.text[self.at : self.at + count]

    def take(self, count: int = 1) -> str:
        """Consume and return the next `count` characters."""
        taken = self.peek(count)
        self.at += len(taken)
        return taken

    def take_match(self, pattern: re.Pattern[str]) -> str | None:
        """Consume and return what `pattern` matches here; None if it doesn't match."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group()

    def take_until(self, end: str) -> str:
        """Consume the text up to and including the next `end`; return it without `end`.

        Raises UnparsableCommand if `end` doesn't occur.
        """
        found = self.text.find(end, self.at)
        if found < 0:
            raise UnparsableCommand(f"a closing {end} is missing")
        taken = self.text[self.at : found]
        self.at = found + len(end)
        return taken

    def take_continuation(self) -> bool:
        """Skip a line continuation; return whether there was one.

        Raises UnparsableCommand if it splits a word.
        """
        if self.peek(2) != "\\\n":
            return False
        if self.at and self.text[self.at - 1] not in _BLANKS:
            raise UnparsableCommand("a line continuation splits a word")
        self.at += 2
        return True

    def skip_blanks(self) -> None:
        """Skip blanks, line continuations and a comment. Raises UnparsableCommand."""
        while not self.at_end:
            if self.peek() in _BLANKS:
                self.at += 1
            elif not self.take_continuation():
                break
        if self.peek() == "#":
            if self.in_substitution:
                raise UnparsableCommand("it has a comment inside a substitution")
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
