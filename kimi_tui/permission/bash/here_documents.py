"""Parsing of here-documents (bash manual, 3.6.6)."""

import re
from collections.abc import Iterator

from kimi_tui.permission.bash.cursor import Cursor, UnparsableCommand

_DELIMITER = re.compile(r"(?:'[^'\n]*'|\"[^\"$`\\\n]*\"|\\?[A-Za-z0-9_.+-]+)(?=[ \t\n|&;()<>]|\Z)")


class HereDocuments:
    """Reads here-documents at `cursor`."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._pending: list[tuple[str, bool, bool]] = []
        """Those announced on this line: delimiter, whether to strip tabs, whether to expand the body."""
        self._pending_since = 0
        self.bodies: list[str] = []

    def read_delimiter(self, operator: str) -> str:
        """Read the delimiter after `<<` or `<<-`. Raises UnparsableCommand."""
        source = self._cursor.take_match(_DELIMITER)
        if source is None:
            raise UnparsableCommand("its here-document has a complex delimiter")
        delimiter = source.strip("'\"\\")
        if not self._pending:
            self._pending_since = self._cursor.at
        self._pending.append((delimiter, operator == "<<-", source == delimiter))
        return delimiter

    def read_bodies(self) -> Iterator[str]:
        """Skip the newline at the cursor and the bodies after it. Yield each body that bash expands.

        Raises UnparsableCommand.
        """
        cursor = self._cursor
        if self._pending and "\n" in cursor.text[self._pending_since : cursor.at]:
            raise UnparsableCommand("a line break precedes the body of a here-document")
        cursor.take()
        announced, self._pending = self._pending, []
        for delimiter, strips_tabs, expands in announced:
            body = self._read_body(delimiter, strips_tabs=strips_tabs)
            self.bodies.append(body)
            if expands:
                yield body

    def require_none_pending(self) -> None:
        """Raise UnparsableCommand if a body is missing. Called where no further line follows."""
        if self._pending:
            raise UnparsableCommand("a here-document has no body")

    def _read_body(self, delimiter: str, *, strips_tabs: bool) -> str:
        cursor = self._cursor
        lines: list[str] = []
        while not cursor.at_end:
            end = cursor.text.find("\n", cursor.at)
            line = cursor.take((len(cursor.text) if end < 0 else end) - cursor.at)
            if (line.lstrip("\t") if strips_tabs else line) == delimiter:
                body = "".join(f"{each}\n" for each in lines)
                if cursor.in_substitution and _could_end_substitution(body):
                    raise UnparsableCommand("its here-document has a ) inside a substitution")
                return body
            lines.append(line)
            cursor.take()
        raise UnparsableCommand(f"the here-document delimiter {delimiter} is missing")


def _could_end_substitution(body: str) -> bool:
    """Return whether bash 3.2 sees an unbalanced `)`.

    It also counts parentheses and quotes in here-documents.
    """
    if ")" not in body:
        return False
    depth = 0
    for char in body:
        depth += (char == "(") - (char == ")")
        if depth < 0 or char in "'\"`\\":
            return True
    return False
