"""Index of a segment of manifests: the paths that its records change. Kept in a file next to the segment.

The first line is the size of the indexed part of the segment in bytes. Then there is a line per record: its
offset and the paths as JSON strings, separated by tabs. The line begins with `=` if the record's parent is
the previous record in the segment. Otherwise the line begins with `!`, and has the parent between offset and
paths; without a parent, this field is empty. A path is found by searching the text, without decoding records.
"""

import contextlib
import json
from pathlib import Path

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.manifest import ManifestLog, ManifestMissing, RawRecord

_MIN_NEW_BYTES = 50_000
"""An index is rewritten if at least this much of the segment isn't indexed."""


@frozen(kw_only=True)
class RecordRun:
    """Successive records of a segment: each is the parent of the next."""

    segment: str
    first: int
    """Offset of the first record."""
    last: int
    parent: str | None
    """The parent of the first record."""


class SegmentIndex:
    """The index of one segment."""

    def __init__(self, segment: str, text: bytes) -> None:
        self._segment = segment
        self._text = text

    def run_to(self, offset: int) -> RecordRun | None:
        """Return the records that lead to the record at `offset`; None if that record isn't stored."""
        line = self._find_line(offset)
        start = self._text.rfind(b"\n!", 0, line + 2)
        if line < 0 or start < 0:
            return None
        first, parent = self._text[start + 2 : self._end_of(start)].split(b"\t")[:2]
        return RecordRun(
            segment=self._segment, first=int(first), last=offset, parent=parent.decode("ascii") or None
        )

    def find_changes(self, run: RecordRun, path: str) -> list[int]:
        """Return the offsets of the records in `run` that change `path`, newest first."""
        start, end = self._find_line(run.first), self._end_of(self._find_line(run.last))
        return self._find(path, start, end)

    def find_all_changes(self, path: str) -> list[int]:
        """Return the offsets of all records that change `path`, oldest first."""
        return self._find(path, 0, len(self._text))[::-1]

    def _find(self, path: str, start: int, end: int) -> list[int]:
        key = b"\t" + json.dumps(path).encode("ascii")
        found = []
        while (at := self._text.rfind(key, start, end)) >= 0:
            end = self._text.rfind(b"\n", 0, at)
            found.append(int(self._text[end + 2 : self._text.index(b"\t", end)]))
        return found

    def _find_line(self, offset: int) -> int:
        """Return the position of the newline before a record's line; -1 without one."""
        line = self._text.find(b"\n=%d\t" % offset)
        return line if line >= 0 else self._text.find(b"\n!%d\t" % offset)

    def _end_of(self, line: int) -> int:
        end = self._text.find(b"\n", line + 1)
        return len(self._text) if end < 0 else end


def load_index(manifests: ManifestLog, segment: str) -> SegmentIndex:
    """Return the index of a segment, completed with the records that were added. Blocks."""
    file = manifests.index_file(segment)
    text = _read(file)
    size = int(text[: text.find(b"\n")]) if text else 0
    parts, end, previous = [], size, _last_offset(text)
    for raw in manifests.raw_records(segment, start=size):
        parts.append(_line(manifests, raw, previous))
        previous, end = raw.offset, raw.end
    if not parts:
        return SegmentIndex(segment, text)
    text = b"%d%b%b" % (end, text[text.find(b"\n") :] if text else b"", b"".join(parts))
    if end - size >= _MIN_NEW_BYTES:
        with contextlib.suppress(OSError):  # without the file, the next search takes longer
            write_private_atomic(file, text.decode("ascii"))
    return SegmentIndex(segment, text)


def _line(manifests: ManifestLog, raw: RawRecord, previous: int | None) -> bytes:
    try:
        parent, paths = manifests.changed_paths(raw)
    except ManifestMissing:
        return b"\n!%d\t" % raw.offset
    keys = b"".join(b"\t" + json.dumps(path).encode("ascii") for path in paths)
    if previous is not None and parent == raw.id_at(previous):
        return b"\n=%d\t%b" % (raw.offset, keys)
    return b"\n!%d\t%b%b" % (raw.offset, (parent or "").encode("ascii"), keys)


def _read(file: Path) -> bytes:
    try:
        text = file.read_bytes()
    except OSError:
        return b""
    return text if text[: max(0, text.find(b"\n"))].isdigit() else b""


def _last_offset(text: bytes) -> int | None:
    line = text.rfind(b"\n")
    return int(text[line + 2 : text.index(b"\t", line)]) if line >= 0 else None
