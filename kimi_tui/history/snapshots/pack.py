"""Packs: many blobs in one file, written in one go.

Layout: zlib frames, each of up to `FRAME` bytes of content or of one larger blob; the index, a record
(digest, frame offset, frame length, start in the frame's content, size) for each blob; a footer (index
offset, number of blobs, magic). Small files are compressed together since setting up a compressor costs as
much as compressing 20 KB.
"""

import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from kimi_tui.base.identity import new_uid
from kimi_tui.history.disk import NEW_FILE, TEMPORARY, Disk, discard, sync_folder, write_all

FRAME = 1 << 18
_LEVEL = 1
_RAW = "-raw.pack"
"""How packs end that were written in haste, without compression; the next collection writes them anew."""
_RECORD = struct.Struct(">20sQIII")
_FOOTER = struct.Struct(">QQ8s")
_MAGIC = b"kimipck1"
_FRAMES_AT_HAND = 8
"""Files that lie together are mostly read together."""
_AHEAD = 4
"""How many frames may wait for being compressed and written."""


class Place(NamedTuple):
    """Where a blob lies in a pack."""

    offset: int
    length: int
    start: int
    size: int


class Pack:
    """A pack that is there."""

    def __init__(self, path: Path, places: Mapping[str, Place]) -> None:
        self.path = path
        self.places = places
        self._frames: OrderedDict[int, bytes] = OrderedDict()

    @classmethod
    def open(cls, path: Path) -> "Pack":
        """Read a pack's index. Raises OSError, and ValueError when it is no pack."""
        with path.open("rb") as file:
            end = file.seek(0, 2)
            if end < _FOOTER.size:
                raise ValueError("too short for a pack")
            file.seek(end - _FOOTER.size)
            index, count, magic = _FOOTER.unpack(file.read(_FOOTER.size))
            if magic != _MAGIC or index + count * _RECORD.size + _FOOTER.size != end:
                raise ValueError("no pack")
            file.seek(index)
            data = file.read(count * _RECORD.size)
        return cls(path, {record[0].hex(): Place(*record[1:]) for record in _RECORD.iter_unpack(data)})

    @property
    def is_raw(self) -> bool:
        """Whether nothing in it is compressed."""
        return self.path.name.endswith(_RAW)

    def read(self, digest: str) -> bytes:
        """A blob's content. Raises OSError, zlib.error."""
        place = self.places[digest]
        if (content := self._frames.get(place.offset)) is None:
            with self.path.open("rb") as file:
                file.seek(place.offset)
                content = zlib.decompress(file.read(place.length))
            self._frames[place.offset] = content
            if len(self._frames) > _FRAMES_AT_HAND:
                self._frames.popitem(last=False)
        return content[place.start : place.start + place.size]


class PackWriter:
    """Collects blobs into a pack; compression goes on in a thread of its own."""

    def __init__(self, file: int, disk: Disk, compressor: ThreadPoolExecutor, *, level: int) -> None:
        self._level = level
        self._file = file
        self._disk = disk
        self._compressor = compressor
        self._offset = 0
        self._parts: list[tuple[str, bytes]] = []
        self._filled = 0
        self._waiting: list[tuple[list[tuple[str, bytes]], Future[bytes]]] = []
        self.places: dict[str, Place] = {}

    def add(self, digest: str, content: bytes) -> None:
        """Take in a blob, which is not in the pack yet. Raises OSError."""
        self._parts.append((digest, content))
        self._filled += len(content)
        if self._filled >= FRAME:
            self._close_frame()

    def finish(self) -> None:
        """Write what is waiting, then index and footer. Raises OSError."""
        if self._parts:
            self._close_frame()
        self._write_frames(down_to=0)
        index = b"".join(_RECORD.pack(bytes.fromhex(digest), *place) for digest, place in self.places.items())
        write_all(self._disk, self._file, index + _FOOTER.pack(self._offset, len(self.places), _MAGIC))

    def _close_frame(self) -> None:
        parts, self._parts, self._filled = self._parts, [], 0
        content = b"".join(content for _, content in parts)
        self._waiting.append((parts, self._compressor.submit(zlib.compress, content, self._level)))
        self._write_frames(down_to=_AHEAD)

    def _write_frames(self, *, down_to: int) -> None:
        while len(self._waiting) > down_to:
            parts, future = self._waiting.pop(0)
            data = future.result()
            write_all(self._disk, self._file, data)
            start = 0
            for digest, content in parts:
                self.places[digest] = Place(self._offset, len(data), start, len(content))
                start += len(content)
            self._offset += len(data)


@contextmanager
def new_pack(folder: Path, disk: Disk, *, raw: bool = False) -> Iterator[PackWriter]:
    """A writer for a new pack in `folder`, which appears there when the block ends well. Raises OSError."""
    path = folder / f"{new_uid()}{_RAW if raw else '.pack'}"
    beside = path.with_name(path.name + TEMPORARY)
    with ExitStack() as stack:
        compressor = stack.enter_context(ThreadPoolExecutor(1))
        file = disk.open(beside, NEW_FILE)
        try:
            try:
                writer = PackWriter(file, disk, compressor, level=0 if raw else _LEVEL)
                yield writer
                writer.finish()
                disk.fsync(file)
            finally:
                disk.close(file)
            if writer.places:
                disk.rename(beside, path)
                sync_folder(disk, folder)
        finally:
            if not writer.places or not path.exists():
                discard(disk, beside)
