"""Whole file state in its stored form: finds single paths without decoding the rest."""

import json
from collections.abc import Collection, Mapping
from typing import Any, get_args

from kimi_tui.history.snapshots.chunked_json import split_lines
from kimi_tui.history.snapshots.entry import Entry, Kind, share_mode

_MAX_SEARCHED = 16
"""Maximum number of paths to search for one by one. For more paths, a pass over all names is faster."""
_MAX_ENTRY_BYTES = 1 << 16
_LINE = b'{"whole":{'
_KINDS: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}


class StoredState:
    """A whole state. Decoding the complete state of 100,000 files would take half a second."""

    def __init__(self, lines: bytes, entries: Mapping[str, Entry] | None = None) -> None:
        """Create a state from the `lines` of a record that contain only the state, or from its `entries`."""
        self._lines = lines
        self._entries = entries
        self._found: dict[str, Entry | None] = {}
        """Entries found so far, by path; None if a path doesn't exist."""

    def find(self, paths: Collection[str]) -> dict[str, Entry]:
        """Return the entries of the `paths` that exist."""
        if self._entries is None:
            missing = [path for path in paths if path not in self._found]
            if len(missing) > _MAX_SEARCHED:
                self._found |= {**dict.fromkeys(missing), **self._find_entries(missing)}
            else:
                self._found |= {path: self._find_entry(path) for path in missing}
        known: Mapping[str, Entry | None] = self._found if self._entries is None else self._entries
        found = ((path, known.get(path)) for path in paths)
        return {path: entry for path, entry in found if entry is not None}

    def _find_entry(self, path: str) -> Entry | None:
        key = json.dumps(path).encode("ascii") + b":["
        at = self._lines.find(key)
        # Other names may contain the text of the key, but then a backslash is before its quotes.
        while at > 0 and self._lines[at - 1 : at] not in (b"{", b","):
            at = self._lines.find(key, at + 1)
        if at <= 0:
            return None
        return _read_entry(self._lines[at + len(key) - 1 : at + len(key) + _MAX_ENTRY_BYTES])

    def _find_entries(self, paths: Collection[str]) -> dict[str, Entry]:
        """Return the entries of the `paths` that exist, in one pass over all names.

        Quotes in strings are escaped, so that the separator of entries doesn't occur in a string.
        """
        names = {json.dumps(path)[1:-1].encode("ascii"): path for path in paths}
        found = {}
        for line in split_lines(self._lines):
            for entry in line[len(_LINE) + 1 :].split(b'],"'):
                name, _, fields = entry.partition(b'":[')
                if name in names:
                    found[names[name]] = _read_entry(b"[" + fields + b"]")
        return found


def _read_entry(data: bytes) -> Entry:
    """Return the entry at the beginning of `data`."""
    fields: list[Any] = json.JSONDecoder().raw_decode(data.decode("ascii"))[0]
    return Entry(*fields)


def parse_entries(fields_by_path: Mapping[str, list[Any]]) -> dict[str, Entry]:
    """Return entries that share equal kinds and modes: a state may have 100,000 of them."""
    for fields in fields_by_path.values():
        fields[0] = _KINDS.get(fields[0], fields[0])
        fields[1] = share_mode(fields[1])
    return {path: Entry(*fields) for path, fields in fields_by_path.items()}


def whole_state_lines(data: bytes) -> bytes:
    """Return the lines of a decompressed record that contain only its whole state; none in a small record.

    These lines follow each other.
    """
    start, last = data.find(b"\n" + _LINE) + 1, data.rfind(b"\n" + _LINE) + 1
    if not start:
        return b""
    end = data.find(b"\n", last)
    return data[start : end if end >= 0 else len(data)]
