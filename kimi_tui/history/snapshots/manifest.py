"""Manifests: the states that the files were in, one record for each change of them.

A record holds what changed since its parent and who changed it; now and then one also holds the whole state,
so that reading a state never takes more than `MAX_CHAIN` records. Records are appended to segments, files
that one process writes: `>IIB` (length, CRC-32, 1 for a whole state), then zlib-compressed `json_pieces`. A
manifest's id is its segment's name and where in it the record begins.
"""

import re
import struct
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.disk import APPENDING, LOCAL_DISK, Disk, sync_folder, write_all
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry, apply
from kimi_tui.history.snapshots.json_pieces import decoded, encoded
from kimi_tui.history.snapshots.owner import Owner

MAX_CHAIN = 4096
"""With 100,000 files a whole state takes 4 MB: shared by this many records it is 1 KB each."""
_OLD_S = 86400
"""A process's first record holds the whole state when the last whole one is older: so old segments can go,
however often sessions follow each other."""
_HEAD = struct.Struct(">IIB")
_SUFFIX = ".manifests"
_LEVEL = 6
_LEVEL_OF_WHOLE = 1
"""Mostly digests, which no level makes smaller."""
_ID = re.compile(r"[\w.-]+:\d+")


class ManifestMissing(Exception):
    """A state that is not kept any more, or damaged."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One record."""

    id: str
    parent: str | None
    owner: Owner
    time: float
    changes: Changes
    """Since the parent. Without a parent, everything."""
    whole: Entries | None


class ManifestLog:
    """The states of one project, and a segment of its own for new ones. Its methods block."""

    def __init__(
        self,
        folder: Path,
        session: str,
        *,
        disk: Disk = LOCAL_DISK,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._folder = folder
        self._session = session
        self._disk = disk
        self._segment: Path | None = None
        self._end = 0
        self._chain = 0
        self._chain_bytes = 0
        self._whole_bytes = 0
        self._based_on: dict[str, float] = {}
        """Of states that were read, when the whole one was recorded that they are told from."""

    def append(self, parent: str | None, owner: Owner, changes: Changes, entries: Entries) -> str:
        """Record that `changes` made `entries` of `parent`; return the new id. Raises OSError."""
        whole = self._should_be_whole(parent)
        frame = _framed(
            _to_json(parent, owner, changes, entries if whole else None, self._clock()), whole=whole
        )
        segment, offset = self._appended(frame)
        if whole:
            self._chain, self._chain_bytes, self._whole_bytes = 0, 0, len(frame)
        else:
            self._chain += 1
            self._chain_bytes += len(frame)
        return f"{segment.stem}:{offset}"

    def read(self, manifest: str) -> Manifest:
        """A record. Raises ManifestMissing."""
        name, _, offset = manifest.rpartition(":")
        try:
            with (self._folder / f"{name}{_SUFFIX}").open("rb") as file:
                file.seek(int(offset))
                return _from_json(manifest, _unframed(file.read(_HEAD.size), file.read))
        except (OSError, ValueError, KeyError, TypeError, zlib.error, struct.error) as error:
            raise ManifestMissing(manifest) from error

    def entries(self, manifest: str) -> dict[str, Entry]:
        """The whole state. Raises ManifestMissing."""
        changes: list[Changes] = []
        record = self.read(manifest)
        while record.whole is None:
            changes.append(record.changes)
            if record.parent is None:
                break
            record = self.read(record.parent)
        self._based_on[manifest] = record.time
        state = dict(record.whole or {})
        for change in reversed(changes):
            apply(change, state)
        return state

    def since(self, manifest: str, head: str) -> list[Manifest]:
        """The records from just after `manifest` up to `head`, oldest first.

        Raises ManifestMissing, also when `head` doesn't come from `manifest`.
        """
        found: list[Manifest] = []
        at: str | None = head
        while at != manifest:
            if at is None:
                raise ManifestMissing(manifest)
            record = self.read(at)
            found.append(record)
            at = record.parent
        found.reverse()
        return found

    def newest(self, session: str) -> str | None:
        """The last state that a session recorded."""
        segments = self._segments(session)
        for segment in reversed(segments):
            if offsets := [offset for offset, _ in _frames(segment)]:
                return f"{segment.stem}:{offsets[-1]}"
        return None

    def of_others(self, sessions: Collection[str], since: float) -> Iterator[Manifest]:
        """What other sessions recorded from the time `since` on, as far as it can be read."""
        for segment in self._segments("*"):
            if segment.stem.rpartition(".")[0] not in sessions and segment.stat().st_mtime >= since:
                yield from (record for record in self._records((segment,)) if record.time >= since)

    def all(self) -> Iterator[Manifest]:
        """Every record that can be read, segment by segment."""
        yield from self._records(self._segments("*"))

    def _records(self, segments: Iterable[Path]) -> Iterator[Manifest]:
        for segment in segments:
            for offset, payload in _frames(segment):
                try:
                    yield _from_json(f"{segment.stem}:{offset}", payload)
                except (ValueError, KeyError, TypeError, zlib.error):
                    continue

    def drop(self, segments: set[str]) -> None:
        """Forget whole segments, by name. Raises OSError."""
        for name in segments:
            self._disk.unlink(self._folder / f"{name}{_SUFFIX}")

    def _should_be_whole(self, parent: str | None) -> bool:
        if parent is None or self._chain >= MAX_CHAIN or self._chain_bytes > self._whole_bytes > 0:
            return True
        if self._segment is not None:
            return False
        return self._clock() - self._based_on.get(parent, 0.0) > _OLD_S

    def _appended(self, frame: bytes) -> tuple[Path, int]:
        fresh = self._segment is None
        if self._segment is None:
            make_private_dir(self._folder)
            number = len(self._segments(self._session)) + 1
            while (segment := self._folder / f"{self._session}.{number:06}{_SUFFIX}").exists():
                number += 1
            self._segment = segment
        file = self._disk.open(self._segment, APPENDING)
        try:
            try:
                write_all(self._disk, file, frame)
                self._disk.fsync(file)
            except OSError:
                self._segment, self._end = None, 0  # what was cut off ends a segment
                raise
        finally:
            self._disk.close(file)
        if fresh:
            sync_folder(self._disk, self._folder)
        offset, self._end = self._end, self._end + len(frame)
        return self._segment, offset

    def _segments(self, session: str) -> list[Path]:
        return sorted(self._folder.glob(f"{session}.??????{_SUFFIX}"))


def is_manifest(text: str | None) -> bool:
    """Whether a checkpoint's `files` is a manifest's id, and not why there is none."""
    return text is not None and _ID.fullmatch(text) is not None


def segment_of(manifest: str) -> str:
    """The name of the segment that holds a manifest."""
    return manifest.rpartition(":")[0]


def _framed(payload: bytes, *, whole: bool) -> bytes:
    data = zlib.compress(payload, _LEVEL_OF_WHOLE if whole else _LEVEL)
    return _HEAD.pack(len(data), zlib.crc32(data), whole) + data


def _unframed(head: bytes, read: Any) -> bytes:
    length, checksum, _ = _HEAD.unpack(head)
    data: bytes = read(length)
    if len(data) != length or zlib.crc32(data) != checksum:
        raise ValueError("a record is damaged")
    return data


def _frames(segment: Path) -> Iterator[tuple[int, bytes]]:
    """Offset and compressed payload of each record, up to the first that is cut off or damaged."""
    with segment.open("rb") as file:
        offset = 0
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            try:
                data = _unframed(head, file.read)
            except ValueError:
                return
            yield offset, data
            offset += len(head) + len(data)


def _to_json(parent: str | None, owner: Owner, changes: Changes, whole: Entries | None, now: float) -> bytes:
    told = {field: value for field, value in asdict(owner).items() if value}
    record: dict[str, Any] = {"parent": parent, "owner": told, "time": now}
    if parent is not None:
        record["set"] = {path: entry for path, entry in changes.items() if entry is not None}
        record["gone"] = [path for path, entry in changes.items() if entry is None]
    if whole is not None:
        record["whole"] = whole
    return encoded(record)


def _from_json(manifest: str, data: bytes) -> Manifest:
    record = decoded(zlib.decompress(data))
    whole = _entries(record["whole"]) if "whole" in record else None
    changes: dict[str, Entry | None] = dict(_entries(record["set"]) if "set" in record else whole or {})
    changes |= dict.fromkeys(record.get("gone", ()))
    return Manifest(
        manifest, record["parent"], Owner(**record["owner"]), float(record["time"]), changes, whole
    )


def _entries(found: Mapping[str, list[Any]]) -> dict[str, Entry]:
    return {path: Entry(*fields) for path, fields in found.items()}
