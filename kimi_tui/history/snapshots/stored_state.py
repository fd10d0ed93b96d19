"""Whole file state as it is stored: finds single paths in it without decoding the rest."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from kimi_tui.history.snapshots.chunked_json import split_lines
from kimi_tui.history.snapshots.entry import Entry

_MAX_SEARCHED = 50
"""Maximum number of paths that are searched for. For more, decoding everything is faster."""
_MAX_ENTRY_BYTES = 1 << 16
_LINE = b'{"whole":{'


class StoredState:
    """A whole state. In a project of 100,000 files, decoding all of it takes half a second."""

    def __init__(self, lines: bytes, decode: Callable[[], Mapping[str, Entry]]) -> None:
        """Create it from the lines of a record that have only the state, as `chunked_json` writes them.

        `decode` returns all entries.
        """
        self._lines = lines
        self._decode = decode
        self._entries: Mapping[str, Entry] | None = None

    def find(self, paths: Collection[str]) -> dict[str, Entry]:
        """Return the entries of those of the paths that exist."""
        if self._entries is None and (len(paths) > _MAX_SEARCHED or not self._lines):
            self._entries = self._decode()
        if self._entries is None:
            found = ((path, self._find_entry(path)) for path in paths)
        else:
            found = ((path, self._entries.get(path)) for path in paths)
        return {path: entry for path, entry in found if entry is not None}

    def _find_entry(self, path: str) -> Entry | None:
        key = json.dumps(path).encode("ascii") + b":["
        at = self._lines.find(key)
        # Other names may contain the text of the key, but then a backslash is before its quotes.
        while at > 0 and self._lines[at - 1 : at] not in (b"{", b","):
            at = self._lines.find(key, at + 1)
        if at <= 0:
            return None
        start = at + len(key) - 1
        text = self._lines[start : start + _MAX_ENTRY_BYTES].decode("ascii")
        fields: list[Any] = json.JSONDecoder().raw_decode(text)[0]
        return Entry(*fields)


def whole_state_lines(data: bytes) -> bytes:
    """Return the lines of a decompressed record that have only its whole state; none in a small record."""
    return b"\n".join(line for line in split_lines(data) if line.startswith(_LINE))
