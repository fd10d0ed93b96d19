"""A place in a text that is read as bash."""

import re

_BLANKS = " \t"


class Unreadable(Exception):
    """Text whose meaning isn't certain; says why."""


class Cursor:
    """A place in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.in_substitution = 0
        """How many `$(` or `<(` are open here."""

    @property
    def ended(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.text)

    def peek(self, count: int = 1) -> str:
        """The next characters, fewer at the end."""
        return self.text[self.at : self.at + count]

    def take(self, count: int = 1) -> str:
        """The next characters, stepped over."""
        taken = self.peek(count)
        self.at += len(taken)
        return taken

    def take_match(self, pattern: re.Pattern[str]) -> str | None:
        """What `pattern` matches here, stepped over; None when it doesn't."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group()

    def take_until(self, end: str) -> str:
        """What stands before the next `end`; both are stepped over. Raises Unreadable when there is none."""
        found = self.text.find(end, self.at)
        if found < 0:
            raise Unreadable(f"a {end} is missing")
        taken = self.text[self.at : found]
        self.at = found + len(end)
        return taken

    def take_continuation(self) -> bool:
        """Step over a line that goes on in the next one."""
        if self.peek(2) != "\\\n":
            return False
        if self.at and self.text[self.at - 1] not in _BLANKS:
            raise Unreadable("a line breaks within a word")
        self.at += 2
        return True

    def skip_blanks(self) -> None:
        """Step over blanks, continued lines and a comment."""
        while not self.ended:
            if self.peek() in _BLANKS:
                self.at += 1
            elif not self.take_continuation():
                break
        if self.peek() == "#":
            if self.in_substitution:
                raise Unreadable("it has a comment within a substitution")
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
