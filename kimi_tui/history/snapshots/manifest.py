"""Manifests: the states of the files, one record per change.

A record contains the changes since its parent and their author. Some records also contain the whole state, so
that reading a state never needs more than `MAX_CHAIN` records. Records are appended to segments, files that
one process writes: `>IIB` (length, CRC-32, 1 for a whole state), then zlib-compressed `chunked_json`. A
manifest's id is the name of its segment and the offset of its record.

A segment's name, such as `SESSION.000001-9f86d081884c7d65`, ends with a number and a random part. The number
orders the segments of a session. With the random part, an id is never used again after its segment was
deleted. Segments of version 0.1.0 have no random part. The names of deleted segments are kept in the file
`deleted`.
"""

import contextlib
import json
import re
import secrets
import struct
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from kimi_tui.base.frozen import frozen
from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.filesystem import APPEND_FLAGS, LOCAL_FILE_SYSTEM, FileSystem, sync_folder, write_all
from kimi_tui.history.snapshots.attributes.file_attributes import Attributes, FileAttributes
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.chunked_json import decode, encode_lines, inflate_lines, split_lines
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry, apply_changes
from kimi_tui.history.snapshots.rename_detection import Renames
from kimi_tui.history.snapshots.stored_state import StoredState, parse_entries, whole_state_lines

MAX_CHAIN = 4096
"""With 100,000 files, a whole state takes 4 MB: 1 KB for each record of the chain."""
_MAX_WHOLE_AGE_S = 86400
"""The first record of a process contains the whole state if the last whole state is older.

So old segments can be deleted even if sessions follow each other without a break.
"""
_HEADER = struct.Struct(">IIB")
_SUFFIX = ".manifests"
_INDEX_SUFFIX = ".paths"
_LEVEL = 6
_LEVEL_OF_WHOLE = 1
"""A whole state is mostly digests. Higher levels don't compress digests further."""
_NUMBER = re.compile(r"\.(\d{6})(?:-[0-9a-f]{16})?$")
"""The number at the end of a segment's name."""
_RANDOM_BYTES = 8
_FIRST_BYTES = 1 << 16
"""Bytes that are decompressed at a time until the first line of a record is complete."""
_DELETED_FILE = "deleted"
"""File with the names of the segments that were deleted to free space, one per line."""


class ManifestMissing(Exception):
    """A state that isn't stored, or is damaged."""

    def __init__(self, manifest: str, *, was_deleted: bool = False) -> None:
        super().__init__(manifest)
        self.was_deleted = was_deleted
        """Whether the state was deleted to free space."""


@frozen
class Manifest:
    """A record: the changes that lead from the parent to a state, and their author."""

    id: str
    parent: str | None
    author: ChangeAuthor
    time: float
    changes: Changes
    """Changes since the parent. Without a parent, all entries."""
    whole: dict[str, Entry] | None
    is_complete: bool = True
    """Whether the state lists all covered files. If not, no scan has looked for all files yet."""
    renames: Renames = field(default_factory=dict)
    """The files and directories among `changes` that were renamed: new path -> old path."""
    attributes: Attributes = field(default_factory=dict)
    """Attributes that have changed since the parent, by path.

    A record with the whole state has all attributes, even the last ones of paths that no longer exist.
    """


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record that hasn't been decoded."""

    segment: str
    offset: int
    end: int
    """Offset of the next record."""
    payload: bytes
    """Compressed."""

    @property
    def id(self) -> str:
        """The manifest id."""
        return self.id_at(self.offset)

    def id_at(self, offset: int) -> str:
        """Return the manifest id of another record in its segment."""
        return f"{self.segment}:{offset}"


@dataclass(frozen=True, slots=True)
class RecordOutline:
    """Parent and time of a record, without its changes."""

    id: str
    parent: str | None
    time: float
    is_whole: bool
    """Whether the record contains the whole state."""


class ManifestLog:
    """The states of one project, with one segment for new records. The methods block."""

    def __init__(
        self,
        folder: Path,
        session: str,
        *,
        fs: FileSystem = LOCAL_FILE_SYSTEM,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._folder = folder
        self._session = session
        self._fs = fs
        self._segment: Path | None = None
        self._end = 0
        self._chain = 0
        self._chain_bytes = 0
        self._whole_bytes = 0
        self._read_attributes: tuple[str, dict[str, FileAttributes]] = "", {}
        """The state that was read last, and its attributes."""
        self._whole_times: dict[str, float] = {}
        """Time of the whole state that each state read so far is based on, in seconds since the epoch."""

    def append(
        self,
        parent: str | None,
        author: ChangeAuthor,
        changes: Changes,
        entries: Entries,
        *,
        is_complete: bool = True,
        renames: Renames = MappingProxyType({}),
        changed_attributes: Attributes = MappingProxyType({}),
        attributes: Attributes = MappingProxyType({}),
    ) -> str:
        """Record `changes` of the state `parent`; return the id of the new state. Raises OSError.

        `entries` are the entries of `parent`. `attributes` are the attributes of all paths;
        `changed_attributes` are the ones that have changed since `parent`.
        """
        whole = self.needs_whole_state(parent)
        record = _to_json(parent, author, changes, entries if whole else None, self._clock())
        if not is_complete:
            record["partial"] = True
        if renames:
            record["renamed"] = dict(renames)
        if recorded := attributes if whole else changed_attributes:
            record["attributes"] = {
                path: each.to_json() if each is not None else None for path, each in recorded.items()
            }
        frame = _encode_frame(encode_lines(record), whole=whole)
        segment, offset = self._append_frame(frame)
        if whole:
            self._chain, self._chain_bytes, self._whole_bytes = 0, 0, len(frame)
        else:
            self._chain += 1
            self._chain_bytes += len(frame)
        return f"{segment.stem}:{offset}"

    def read(self, manifest: str) -> Manifest:
        """Return a record. Raises ManifestMissing."""
        with self._translate_errors(manifest):
            return _from_json(manifest, inflate_lines(self._read_frame(manifest)))

    def read_state(self, manifest: str) -> tuple[Manifest, StoredState | None]:
        """Return a record without its whole state, and that state or None. Raises ManifestMissing.

        A record without a parent may have no changes.
        """
        with self._translate_errors(manifest):
            data = zlib.decompress(self._read_frame(manifest))
            lines = whole_state_lines(data)
            record = _from_json(manifest, split_lines(_without_whole(data) if lines else data))
        if lines:
            return record, StoredState(lines)
        whole = StoredState(b"", record.whole) if record.whole is not None else None
        return replace(record, whole=None), whole

    def _read_frame(self, manifest: str) -> bytes:
        name, _, offset = manifest.rpartition(":")
        with (self._folder / f"{name}{_SUFFIX}").open("rb") as file:
            file.seek(int(offset))
            return _decode_frame(file.read(_HEADER.size), file.read)

    @contextlib.contextmanager
    def _translate_errors(self, manifest: str) -> Iterator[None]:
        """Turn errors of reading a record into ManifestMissing."""
        try:
            yield
        except FileNotFoundError as error:
            name = segment_of(manifest)
            raise ManifestMissing(manifest, was_deleted=name in self._deleted_segments()) from error
        except (OSError, ValueError, KeyError, TypeError, zlib.error, struct.error) as error:
            raise ManifestMissing(manifest) from error

    def entries(self, manifest: str) -> dict[str, Entry]:
        """Return the whole state. Raises ManifestMissing."""
        records: list[Manifest] = []
        record = self.read(manifest)
        while record.whole is None:
            records.append(record)
            if record.parent is None:
                break
            record = self.read(record.parent)
        self._whole_times[manifest] = record.time
        state = record.whole or {}
        attributes = dict(record.attributes) if record.whole is not None else {}
        for each in reversed(records):
            apply_changes(each.changes, state)
            attributes |= each.attributes
        known = {path: each for path, each in attributes.items() if each is not None}
        self._read_attributes = manifest, known
        return state

    def attributes(self, manifest: str) -> dict[str, FileAttributes]:
        """Return the attributes known in a state. Raises ManifestMissing."""
        if self._read_attributes[0] != manifest:
            self.entries(manifest)
        return self._read_attributes[1]

    def records_since(self, manifest: str, head: str) -> list[Manifest]:
        """Return the records after `manifest` up to `head`, oldest first.

        Raises ManifestMissing, also if `head` isn't a descendant of `manifest`.
        """
        records: list[Manifest] = []
        current: str | None = head
        while current != manifest:
            if current is None:
                raise ManifestMissing(manifest)
            record = self.read(current)
            records.append(record)
            current = record.parent
        records.reverse()
        return records

    def newest(self, session: str) -> str | None:
        """Return the id of the last state that a session recorded; None if there are no states."""
        segments = self._segments(session)
        for segment in reversed(segments):
            if frames := [frame.offset for frame in _read_frames(segment)]:
                return f"{segment.stem}:{frames[-1]}"
        return None

    def from_other_sessions(self, sessions: Collection[str], since: float) -> Iterator[Manifest]:
        """Yield readable records since `since` (seconds since the epoch), except those of `sessions`."""
        for segment in self._segments("*"):
            if segment.stem.rpartition(".")[0] not in sessions and segment.stat().st_mtime >= since:
                yield from (record for record in self._records((segment,)) if record.time >= since)

    def raw_records(self, segment: str, *, start: int = 0) -> Iterator[RawRecord]:
        """Yield the records of a segment from byte `start` on, up to the first truncated record."""
        try:
            with (self._folder / f"{segment}{_SUFFIX}").open("rb") as file:
                file.seek(start)
                data = file.read()
        except OSError:
            return
        at = 0
        while at + _HEADER.size <= len(data):
            length, _, _ = _HEADER.unpack_from(data, at)
            end = at + _HEADER.size + length
            if end > len(data):
                return
            yield RawRecord(segment, start + at, start + end, data[at + _HEADER.size : end])
            at = end

    def changed_paths(self, raw: RawRecord) -> tuple[str | None, list[str]]:
        """Return the parent and the changed paths of a record, without its whole state.

        If the record has no parent, the list is empty. Raises ManifestMissing.
        """
        try:
            record = decode(split_lines(_without_whole(zlib.decompress(raw.payload))))
            if record["parent"] is None:
                return None, []
            return record["parent"], [*record.get("set", ()), *record.get("gone", ())]
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            raise ManifestMissing(raw.id) from error

    def index_file(self, segment: str) -> Path:
        """Return the path for an index of a segment. The index is deleted together with the segment."""
        return self._folder / f"{segment}{_INDEX_SUFFIX}"

    def newest_states(self, count: int) -> list[str]:
        """Return the last state of each of the `count` most recently written segments, newest first."""
        segments = sorted(self._segments("*"), key=lambda path: path.stat().st_mtime, reverse=True)
        ends = [list(self.raw_records(segment.stem))[-1:] for segment in segments[:count]]
        return [record.id for end in ends for record in end]

    def segments_since(self, since: float) -> list[str]:
        """Return the names of the segments that were written to after `since`, in seconds since the epoch."""
        return [path.stem for path in self._segments("*") if path.stat().st_mtime >= since]

    def all(self) -> Iterator[Manifest]:
        """Yield every readable record, segment by segment."""
        yield from self._records(self._segments("*"))

    def outlines(self) -> Iterator[RecordOutline]:
        """Yield the outline of every readable record, segment by segment. Whole states aren't decoded."""
        for segment in self._segments("*"):
            for frame in _read_frames(segment):
                try:
                    record = json.loads(_without_whole(_first_line(frame.payload)))
                    time = float(record["time"])
                    yield RecordOutline(
                        f"{segment.stem}:{frame.offset}", record["parent"], time, frame.is_whole
                    )
                except (ValueError, KeyError, TypeError, zlib.error):
                    continue

    def contents(self) -> Iterator[str]:
        """Yield the digests of the files in all readable records. Some digests occur repeatedly."""
        for segment in self._segments("*"):
            for frame in _read_frames(segment):
                try:
                    for line in inflate_lines(frame.payload):
                        record = json.loads(line)
                        for entries in (record.get("set", {}), record.get("whole", {})):
                            yield from (ref for kind, _, _, ref, *_ in entries.values() if kind == "file")
                except (ValueError, TypeError, AttributeError, zlib.error):
                    continue

    def _records(self, segments: Iterable[Path]) -> Iterator[Manifest]:
        for segment in segments:
            for frame in _read_frames(segment):
                try:
                    yield _from_json(f"{segment.stem}:{frame.offset}", inflate_lines(frame.payload))
                except (ValueError, KeyError, TypeError, zlib.error):
                    continue

    def drop(self, segments: set[str]) -> None:
        """Delete whole segments by name. Raises OSError."""
        if not segments:
            return
        self._append_deleted(segments)
        for name in segments:
            self._fs.unlink(self._folder / f"{name}{_SUFFIX}")
            with contextlib.suppress(FileNotFoundError):
                self._fs.unlink(self.index_file(name))

    def _append_deleted(self, segments: Iterable[str]) -> None:
        file = self._fs.open(self._folder / _DELETED_FILE, APPEND_FLAGS)
        try:
            write_all(self._fs, file, "".join(f"{name}\n" for name in sorted(segments)).encode())
            self._fs.fsync(file)
        finally:
            self._fs.close(file)

    def _deleted_segments(self) -> set[str]:
        try:
            return set((self._folder / _DELETED_FILE).read_text("utf-8").splitlines())
        except OSError:
            return set()

    def needs_whole_state(self, parent: str | None) -> bool:
        """Return whether the next record after `parent` contains the whole state."""
        if parent is None or self._chain >= MAX_CHAIN or self._chain_bytes > self._whole_bytes > 0:
            return True
        if self._segment is not None:
            return False
        return self._clock() - self._whole_times.get(parent, 0.0) > _MAX_WHOLE_AGE_S

    def _append_frame(self, frame: bytearray) -> tuple[Path, int]:
        is_new = self._segment is None
        if self._segment is None:
            make_private_dir(self._folder)
            number = 1 + max(map(_number_of, self._segments(self._session)), default=0)
            name = f"{self._session}.{number:06}-{secrets.token_hex(_RANDOM_BYTES)}{_SUFFIX}"
            self._segment = self._folder / name
        file = self._fs.open(self._segment, APPEND_FLAGS)
        try:
            try:
                write_all(self._fs, file, frame)
                self._fs.fsync(file)
            except OSError:
                self._segment, self._end = None, 0  # a truncated record ends its segment
                raise
        finally:
            self._fs.close(file)
        if is_new:
            sync_folder(self._fs, self._folder)
        offset, self._end = self._end, self._end + len(frame)
        return self._segment, offset

    def _segments(self, session: str) -> list[Path]:
        segments = self._folder.glob(f"{session}.*{_SUFFIX}")
        named = [path for path in segments if session in ("*", path.stem.rpartition(".")[0])]
        return sorted((path for path in named if _NUMBER.search(path.stem)), key=lambda path: path.stem)


def _number_of(segment: Path) -> int:
    number = _NUMBER.search(segment.stem)
    return int(number[1]) if number is not None else 0


def session_of(manifest: str) -> str:
    """Return the session that recorded a manifest."""
    return segment_of(manifest).rpartition(".")[0]


def segment_of(manifest: str) -> str:
    """Return the name of the segment that contains a manifest."""
    return manifest.rpartition(":")[0]


def _encode_frame(lines: Iterable[bytes], *, whole: bool) -> bytearray:
    compressor = zlib.compressobj(_LEVEL_OF_WHOLE if whole else _LEVEL)
    frame = bytearray(_HEADER.size)
    for line in lines:
        frame += compressor.compress(line)
    frame += compressor.flush()
    data = memoryview(frame)[_HEADER.size :]
    _HEADER.pack_into(frame, 0, len(data), zlib.crc32(data), whole)
    return frame


def _decode_frame(head: bytes, read: Any) -> bytes:
    length, checksum, _ = _HEADER.unpack(head)
    data: bytes = read(length)
    if len(data) != length or zlib.crc32(data) != checksum:
        raise ValueError("a record is damaged")
    return data


class _Frame(NamedTuple):
    """A record with a valid checksum that hasn't been decoded."""

    offset: int
    payload: bytes
    """Compressed."""
    is_whole: bool


def _read_frames(segment: Path) -> Iterator[_Frame]:
    """Yield each record, up to the first truncated or damaged one."""
    with segment.open("rb") as file:
        offset = 0
        while len(head := file.read(_HEADER.size)) == _HEADER.size:
            try:
                data = _decode_frame(head, file.read)
            except ValueError:
                return
            yield _Frame(offset, data, bool(head[-1]))
            offset += len(head) + len(data)


def _first_line(payload: bytes) -> bytes:
    """Return the first line of a record. Raises zlib.error."""
    decompressor = zlib.decompressobj()
    line = decompressor.decompress(payload, _FIRST_BYTES)
    while b"\n" not in line and decompressor.unconsumed_tail:
        line += decompressor.decompress(decompressor.unconsumed_tail, _FIRST_BYTES)
    return line.partition(b"\n")[0]


def _without_whole(data: bytes) -> bytes:
    """Return a record without its whole state. That state is in successive lines or near the end."""
    own_line = b'\n{"whole":'
    if (first := data.find(own_line)) >= 0:
        end = data.find(b"\n", data.rfind(own_line) + 1)
        return data[:first] + (data[end:] if end >= 0 else b"")
    start = data.find(b',"whole":{')  # quotes in a path are escaped, so that no path contains this
    return data[:start] + b"}" if start >= 0 else data


def _to_json(
    parent: str | None, author: ChangeAuthor, changes: Changes, entries: Entries | None, now: float
) -> dict[str, Any]:
    """Return a record; with the whole state if the `entries` of `parent` are given."""
    owner = {field: value for field, value in asdict(author).items() if value}
    record: dict[str, Any] = {"parent": parent, "owner": owner, "time": now}
    if parent is not None:
        record["set"] = {path: entry for path, entry in changes.items() if entry is not None}
        record["gone"] = [path for path, entry in changes.items() if entry is None]
    if entries is not None:
        whole = dict(entries)
        apply_changes(changes, whole)
        record["whole"] = whole
    return record


def _from_json(manifest: str, lines: Iterable[bytes]) -> Manifest:
    record = decode(lines, {"whole": parse_entries, "set": parse_entries})
    whole: dict[str, Entry] | None = record.get("whole")
    changes: Changes = record.get("set", whole or {})
    if gone := record.get("gone"):
        changes = {**changes, **dict.fromkeys(gone)}
    return Manifest(
        manifest,
        record["parent"],
        ChangeAuthor(**record["owner"]),
        float(record["time"]),
        changes,
        whole,
        is_complete="partial" not in record,
        renames=record.get("renamed", {}),
        attributes={
            path: FileAttributes.from_json(fields) if fields is not None else None
            for path, fields in record.get("attributes", {}).items()
        },
    )
