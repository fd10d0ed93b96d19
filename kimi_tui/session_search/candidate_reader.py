"""Reader of the messages that the index finds."""

import os
import re
from functools import cache
from pathlib import Path
from typing import Self

from kimi_tui.session_search.journal_message import JournalMessage, read_line
from kimi_tui.session_search.message_index import IndexedMessage
from kimi_tui.session_search.search_query import SearchQuery


class CandidateReader:
    """Reads messages that may contain the terms of a query. Use it in a `with` block."""

    def __init__(self, query: SearchQuery) -> None:
        self._terms = [term.encode() for term in query.terms if _looks_same_in_json(term)]
        self._path: Path | None = None
        self._file: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def read(self, location: IndexedMessage) -> JournalMessage | None:
        """Return a message; None if it can't be read or certainly doesn't contain all terms."""
        try:
            file = self._open(location.path)
            line = os.pread(file, location.length, location.start)
        except (OSError, ValueError, OverflowError):  # a damaged index may have any path
            return None
        if self._lacks_terms(line):
            return None
        found = read_line(line)
        return found if isinstance(found, JournalMessage) else None

    def _open(self, path: Path) -> int:
        if self._file is None or self._path != path:
            self._close()
            self._file, self._path = os.open(path, os.O_RDONLY | os.O_CLOEXEC), path
        return self._file

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _lacks_terms(self, line: bytes) -> bool:
        """Return whether the JSON of a line certainly lacks a term.

        This is five times as fast as decoding the line. Lines with calls or `\\u` always pass: a message's
        text joins the names and arguments of calls, and the escaped characters may have accents.
        """
        if not line.isascii():
            return False
        lowered = line.lower()
        return (
            any(term not in lowered for term in self._terms)
            and b'"tool_calls"' not in line
            and not _unicode_escape().search(line)
        )


def _looks_same_in_json(term: str) -> bool:
    return term.isascii() and term.isprintable() and not set('"/\\') & set(term)


@cache
def _unicode_escape() -> re.Pattern[bytes]:
    return re.compile(rb"\\u")  # twice as fast as `in`: many lines have other escapes and many "u"
