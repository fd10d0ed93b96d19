"""Here-documents: what follows a line that announces them (bash manual, 3.6.6)."""

import re
from collections.abc import Callable

from kimi_tui.tools.permission.cursor import Cursor, Unreadable

_DELIMITER = re.compile(r"(?:'[^'\n]*'|\"[^\"$`\\\n]*\"|\\?[A-Za-z0-9_.+-]+)(?=[ \t\n|&;()<>]|\Z)")


class HereDocuments:
    """Reads here-documents at `cursor`; `expand` reads what the body of one with a bare delimiter runs."""

    def __init__(self, cursor: Cursor, *, expand: Callable[[str], None]) -> None:
        self._cursor = cursor
        self._expand = expand
        self._announced: list[tuple[str, bool, bool]] = []
        """Those of this line: delimiter, whether tabs are stripped, whether the body is expanded."""
        self._announced_at = 0
        self.bodies: list[str] = []

    def announce(self, operator: str) -> str:
        """Read the delimiter after `<<` or `<<-`. Raises Unreadable."""
        source = self._cursor.take_match(_DELIMITER)
        if source is None:
            raise Unreadable("its here-document has an involved delimiter")
        delimiter = source.strip("'\"\\")
        if not self._announced:
            self._announced_at = self._cursor.at
        self._announced.append((delimiter, operator == "<<-", source == delimiter))
        return delimiter

    def begin_line(self) -> None:
        """Step over the newline at the cursor and the bodies that follow it. Raises Unreadable."""
        cursor = self._cursor
        if self._announced and "\n" in cursor.text[self._announced_at : cursor.at]:
            raise Unreadable("text breaks the line before a here-document")
        cursor.take()
        announced, self._announced = self._announced, []
        for delimiter, strips_tabs, expands in announced:
            body = self._body(delimiter, strips_tabs=strips_tabs)
            self.bodies.append(body)
            if expands:
                self._expand(body)

    def end(self) -> None:
        """Say that no further line follows. Raises Unreadable when a body is missing."""
        if self._announced:
            raise Unreadable("a here-document has no body")

    def _body(self, delimiter: str, *, strips_tabs: bool) -> str:
        cursor = self._cursor
        lines: list[str] = []
        while not cursor.ended:
            end = cursor.text.find("\n", cursor.at)
            line = cursor.take((len(cursor.text) if end < 0 else end) - cursor.at)
            if (line.lstrip("\t") if strips_tabs else line) == delimiter:
                body = "".join(f"{each}\n" for each in lines)
                if cursor.in_substitution and _could_end_substitution(body):
                    raise Unreadable("its here-document has a ) within a substitution")
                return body
            lines.append(line)
            cursor.take()
        raise Unreadable(f"the here-document's {delimiter} is missing")


def _could_end_substitution(body: str) -> bool:
    """Whether bash 3.2, which counts parentheses and quotes in here-documents too, sees a `)` too many."""
    if ")" not in body:
        return False
    depth = 0
    for char in body:
        depth += (char == "(") - (char == ")")
        if depth < 0 or char in "'\"`\\":
            return True
    return False
