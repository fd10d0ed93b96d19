"""Packs: files that contain many blobs and are written once.

Layout: zlib frames, each with about `FRAME` bytes of content or with one larger blob; the index, a record
(digest, frame offset, frame length, start in the frame's content, size) for each blob; a footer (index
offset, number of blobs, magic). Small files are compressed together, since setting up a compressor costs as
much as compressing 20 KB. A frame length of 0 means that the content is stored uncompressed.

Content that was split into pieces has a piece list: a record whose size has the highest bit set refers to the
20-byte digests of the pieces, in order. The pieces are blobs in this pack, in other packs, or loose files.
"""

import os
import struct
import zlib
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kimi_tui.base.ids import new_uid
from kimi_tui.history.filesystem import (
    CREATE_FLAGS,
    TEMPORARY_SUFFIX,
    FileSystem,
    discard,
    sync_folder,
    write_all,
)

FRAME = 1 << 18
_LEVEL = 1
_SAMPLE = 1 << 14
"""Bytes from the middle of a blob that fills a frame, to decide whether to compress it."""
_MAX_COMPRESSION_RATIO = 0.95
_RAW = "-raw.pack"
"""Suffix of packs written without compression to save time. The next collection compresses them."""
_RECORD = struct.Struct(">20sQIII")
_DIGEST = 20
_IS_LIST = 1 << 31
_SIZE_AT = _RECORD.size - 4
_FOOTER = struct.Struct(">QQ8s")
_MAGIC = b"kimipck1"
_MAX_CACHED_FRAMES = 8
"""Files in the same pack are often read together."""
_COMPRESSION_THREADS = min(4, os.cpu_count() or 1)
"""Number of frames compressed at the same time."""
_MAX_QUEUED_FRAMES = 2 * _COMPRESSION_THREADS + 2
"""Number of frames that may wait to be compressed and written."""
_SYNC_EVERY = 64 << 20
"""Sync after this many bytes, so that the final sync is short."""


class _Part(NamedTuple):
    """A blob to be written into a frame."""

    digest: str
    content: bytes
    is_list: bool


class Pack:
    """A readable pack."""

    def __init__(self, path: Path, index: bytes) -> None:
        self.path = path
        self._index = index
        records = range(0, len(index), _RECORD.size)
        lists = {at for at in records if index[at + _SIZE_AT] & 0x80}
        blobs = (at for at in records if at not in lists)
        self._blobs = _sort_records(index, blobs)
        """Offsets of the records in the index, ordered by digest: a pack may have 100,000 of them."""
        self._lists = {index[at : at + _DIGEST].hex(): at for at in sorted(lists)}
        self._frames: OrderedDict[int, bytes] = OrderedDict()

    @classmethod
    def open(cls, path: Path) -> "Pack":
        """Open a pack and read its index. Raises OSError, and ValueError if it isn't a pack."""
        with path.open("rb") as file:
            end = file.seek(0, 2)
            if end < _FOOTER.size:
                raise ValueError("too short for a pack")
            file.seek(end - _FOOTER.size)
            index, count, magic = _FOOTER.unpack(file.read(_FOOTER.size))
            if magic != _MAGIC or index + count * _RECORD.size + _FOOTER.size != end:
                raise ValueError("not a pack")
            file.seek(index)
            return cls(path, file.read(count * _RECORD.size))

    def __len__(self) -> int:
        """Return the number of blobs in the pack."""
        return len(self._blobs)

    @property
    def digests(self) -> Iterator[str]:
        """The digests of the blobs in the pack."""
        return (self._index[at : at + _DIGEST].hex() for at in self._blobs)

    def has(self, digest: str) -> bool:
        """Return whether the pack contains a blob."""
        return self._find(digest) is not None

    @property
    def lists(self) -> Collection[str]:
        """The digests of split contents that have a piece list in the pack."""
        return self._lists.keys()

    @property
    def is_raw(self) -> bool:
        """Whether the pack is uncompressed."""
        return self.path.name.endswith(_RAW)

    def read(self, digest: str) -> bytes:
        """Return a blob. Raises OSError, zlib.error."""
        record = self._find(digest)
        if record is None:
            raise KeyError(digest)
        return self._read_record(record)

    def pieces_of(self, digest: str) -> list[str]:
        """Return the digests of the pieces of split content. Raises OSError, zlib.error."""
        names = self._read_record(self._lists[digest]).hex()
        return [names[at : at + 2 * _DIGEST] for at in range(0, len(names), 2 * _DIGEST)]

    def _find(self, digest: str) -> int | None:
        """Return the record of a blob in the index."""
        name, index, blobs = bytes.fromhex(digest), self._index, self._blobs
        at = bisect_left(blobs, name, key=lambda record: index[record : record + _DIGEST])
        found = at < len(blobs) and index[blobs[at] : blobs[at] + _DIGEST] == name
        return blobs[at] if found else None

    def _read_record(self, record: int) -> bytes:
        _, offset, length, start, size = _RECORD.unpack_from(self._index, record)
        size &= ~_IS_LIST
        if not length:
            return self._read_bytes(offset + start, size)
        if (content := self._frames.get(offset)) is None:
            content = zlib.decompress(self._read_bytes(offset, length))
            self._frames[offset] = content
            if len(self._frames) > _MAX_CACHED_FRAMES:
                self._frames.popitem(last=False)
        return content[start : start + size]

    def _read_bytes(self, offset: int, length: int) -> bytes:
        file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if offset + length > os.fstat(file).st_size:
                raise zlib.error("a record points outside the pack")
            return os.pread(file, length, offset)
        finally:
            os.close(file)


def _sort_records(index: bytes, records: Iterable[int]) -> "array[int]":
    """Return records ordered by digest, without a second copy of all digests in memory."""
    by_first_byte = [array("L") for _ in range(256)]
    for at in records:
        by_first_byte[index[at]].append(at)
    ordered = array("L")
    for some in by_first_byte:
        ordered.extend(sorted(some, key=lambda at: index[at : at + _DIGEST]))
    return ordered


class PackWriter:
    """Writes blobs into a pack. Frames are compressed in threads and written in another thread."""

    def __init__(self, path: Path, file: int, fs: FileSystem, *, raw: bool, frame: int) -> None:
        self.path = path
        """The final path of the pack."""
        self._file = file
        self._fs = fs
        self._compression_pool = ThreadPoolExecutor(_COMPRESSION_THREADS)
        self._write_pool = ThreadPoolExecutor(1)
        self._is_raw = raw
        self._frame = frame
        self._offset = 0
        self._unsynced = 0
        self._parts: list[_Part] = []
        self._filled = 0
        self._waiting: list[tuple[list[_Part], Future[tuple[int, bool]]]] = []
        self.index = bytearray()

    def add(self, digest: str, content: bytes) -> None:
        """Add a blob that the pack doesn't contain yet. Raises OSError."""
        self._add_part(_Part(digest, content, is_list=False))

    def add_list(self, digest: str, pieces: Sequence[str]) -> None:
        """Add the piece list of split content that the pack doesn't contain yet. Raises OSError."""
        self._add_part(_Part(digest, bytes.fromhex("".join(pieces)), is_list=True))

    def finish(self) -> None:
        """Write the remaining frames, the index and the footer. Raises OSError."""
        if self._parts:
            self._close_frame()
        self._index_frames(down_to=0)
        footer = _FOOTER.pack(self._offset, len(self.index) // _RECORD.size, _MAGIC)
        write_all(self._fs, self._file, self.index)
        write_all(self._fs, self._file, footer)

    def shut_down(self) -> None:
        """Wait for the threads to finish."""
        self._write_pool.shutdown()
        self._compression_pool.shutdown()

    def _add_part(self, part: _Part) -> None:
        self._parts.append(part)
        self._filled += len(part.content)
        if self._filled >= self._frame:
            self._close_frame()

    def _close_frame(self) -> None:
        parts, self._parts, self._filled = self._parts, [], 0
        frame = self._compression_pool.submit(_build_frame, parts, raw=self._is_raw)
        self._waiting.append((parts, self._write_pool.submit(self._write, frame)))
        self._index_frames(down_to=_MAX_QUEUED_FRAMES)

    def _write(self, frame: Future[tuple[bytes, bool]]) -> tuple[int, bool]:
        """Write a frame. Return its length in the file, and whether it is compressed."""
        data, is_compressed = frame.result()
        write_all(self._fs, self._file, data)
        self._unsynced += len(data)
        if self._unsynced >= _SYNC_EVERY:
            self._fs.fsync(self._file)
            self._unsynced = 0
        return len(data), is_compressed

    def _index_frames(self, *, down_to: int) -> None:
        while len(self._waiting) > down_to:
            parts, write_result = self._waiting.pop(0)
            length, is_compressed = write_result.result()
            length_field = length if is_compressed else 0
            start = 0
            for digest, content, is_list in parts:
                size = len(content)
                size_field = size | _IS_LIST if is_list else size
                self.index += _RECORD.pack(
                    bytes.fromhex(digest), self._offset, length_field, start, size_field
                )
                start += size
            self._offset += length


def _build_frame(parts: list[_Part], *, raw: bool) -> tuple[bytes, bool]:
    """Return the stored form of some blobs, and whether it is compressed."""
    content = b"".join([part.content for part in parts])
    if raw or (len(parts) == 1 and not _is_compressible(content)):
        return content, False
    return zlib.compress(content, _LEVEL), True


def _is_compressible(content: bytes) -> bool:
    """Return whether compression makes a blob smaller. Most videos, archives and model weights stay large."""
    if len(content) <= _SAMPLE:
        return True
    middle = (len(content) - _SAMPLE) // 2
    sample = content[middle : middle + _SAMPLE]
    return len(zlib.compress(sample, _LEVEL)) < _MAX_COMPRESSION_RATIO * len(sample)


@contextmanager
def new_pack(folder: Path, fs: FileSystem, *, raw: bool = False, frame: int = FRAME) -> Iterator[PackWriter]:
    """Yield a writer for a new pack. The pack appears in `folder` if the block succeeds. Raises OSError."""
    path = folder / f"{new_uid()}{_RAW if raw else '.pack'}"
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    file = fs.open(temporary, CREATE_FLAGS)
    writer = PackWriter(path, file, fs, raw=raw, frame=frame)
    try:
        try:
            yield writer
            writer.finish()
            fs.fsync(file)
        finally:
            writer.shut_down()
            fs.close(file)
        if writer.index:
            fs.rename(temporary, path)
            sync_folder(fs, folder)
    finally:
        if not writer.index or not path.exists():
            discard(fs, temporary)
