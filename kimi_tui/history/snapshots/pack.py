"""Packs: many blobs in one file, written in one go.

Layout: zlib frames, each of about `FRAME` bytes of content or of one larger blob; the index, a record
(digest, frame offset, frame length, start in the frame's content, size) for each blob; a footer (index
offset, number of blobs, magic). Small files are compressed together since setting up a compressor costs as
much as compressing 20 KB. A frame length of 0 says that the content lies there as it is.

A content that was cut into pieces is a list: its record, of which the size has the highest bit set, leads to
the 20-byte digests of the pieces, in order, which are blobs of this pack, of others, or loose.
"""

import os
import struct
import zlib
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kimi_tui.base.identity import new_uid
from kimi_tui.history.disk import NEW_FILE, TEMPORARY, Disk, discard, sync_folder, write_all

FRAME = 1 << 18
_LEVEL = 1
_SAMPLE = 1 << 14
"""So many bytes from the middle of a blob that fills a frame tell whether compressing it is of use."""
_OF_USE = 0.95
_RAW = "-raw.pack"
"""How packs end that were written in haste, without compression; the next collection writes them anew."""
_RECORD = struct.Struct(">20sQIII")
_DIGEST = 20
_IS_LIST = 1 << 31
_SIZE_AT = _RECORD.size - 4
_FOOTER = struct.Struct(">QQ8s")
_MAGIC = b"kimipck1"
_FRAMES_AT_HAND = 8
"""Files that lie together are mostly read together."""
_COMPRESSING = min(4, os.cpu_count() or 1)
"""So many frames are compressed at the same time."""
_AHEAD = 2 * _COMPRESSING + 2
"""How many frames may wait for being compressed and written."""
_SYNC_EVERY = 64 << 20
"""After so many bytes the medium gets them, so that the end needn't wait for all of them."""


class _Part(NamedTuple):
    """A blob on its way into a frame."""

    digest: str
    content: bytes
    is_list: bool


class Pack:
    """A pack that is there."""

    def __init__(self, path: Path, index: bytes) -> None:
        self.path = path
        self._index = index
        records = range(0, len(index), _RECORD.size)
        lists = {at for at in records if index[at + _SIZE_AT] & 0x80}
        self._blobs = {index[at : at + _DIGEST].hex(): at for at in records if at not in lists}
        self._lists = {index[at : at + _DIGEST].hex(): at for at in sorted(lists)}
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
            return cls(path, file.read(count * _RECORD.size))

    @property
    def digests(self) -> Collection[str]:
        """Of the blobs that it holds."""
        return self._blobs.keys()

    @property
    def lists(self) -> Collection[str]:
        """The digests of the contents of which it knows the pieces."""
        return self._lists.keys()

    @property
    def is_raw(self) -> bool:
        """Whether nothing in it is compressed."""
        return self.path.name.endswith(_RAW)

    def read(self, digest: str) -> bytes:
        """A blob. Raises OSError, zlib.error."""
        return self._at(self._blobs[digest])

    def pieces_of(self, digest: str) -> list[str]:
        """The digests of a content's pieces. Raises OSError, zlib.error."""
        found = self._at(self._lists[digest]).hex()
        return [found[at : at + 2 * _DIGEST] for at in range(0, len(found), 2 * _DIGEST)]

    def _at(self, record: int) -> bytes:
        _, offset, length, start, size = _RECORD.unpack_from(self._index, record)
        size &= ~_IS_LIST
        if not length:
            return self._bytes(offset + start, size)
        if (content := self._frames.get(offset)) is None:
            content = zlib.decompress(self._bytes(offset, length))
            self._frames[offset] = content
            if len(self._frames) > _FRAMES_AT_HAND:
                self._frames.popitem(last=False)
        return content[start : start + size]

    def _bytes(self, offset: int, length: int) -> bytes:
        file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if offset + length > os.fstat(file).st_size:
                raise zlib.error("a record leads out of the pack")
            return os.pread(file, length, offset)
        finally:
            os.close(file)


class PackWriter:
    """Collects blobs into a pack; compressing goes on in threads, and writing in one of its own."""

    def __init__(self, path: Path, file: int, disk: Disk, *, raw: bool, frame: int) -> None:
        self.path = path
        """Where the pack will be."""
        self._file = file
        self._disk = disk
        self._compressing = ThreadPoolExecutor(_COMPRESSING)
        self._writing = ThreadPoolExecutor(1)
        self._is_raw = raw
        self._frame = frame
        self._offset = 0
        self._unsynced = 0
        self._parts: list[_Part] = []
        self._filled = 0
        self._waiting: list[tuple[list[_Part], Future[tuple[int, bool]]]] = []
        self.index = bytearray()

    def add(self, digest: str, content: bytes) -> None:
        """Take in a blob, which is not in the pack yet. Raises OSError."""
        self._take(_Part(digest, content, is_list=False))

    def add_list(self, digest: str, pieces: Sequence[str]) -> None:
        """Take in what a content's pieces are, which is not in the pack yet. Raises OSError."""
        self._take(_Part(digest, bytes.fromhex("".join(pieces)), is_list=True))

    def finish(self) -> None:
        """Write what is waiting, then index and footer. Raises OSError."""
        if self._parts:
            self._close_frame()
        self._place_frames(down_to=0)
        footer = _FOOTER.pack(self._offset, len(self.index) // _RECORD.size, _MAGIC)
        write_all(self._disk, self._file, bytes(self.index) + footer)

    def end(self) -> None:
        """Wait until nothing is done any more."""
        self._writing.shutdown()
        self._compressing.shutdown()

    def _take(self, part: _Part) -> None:
        self._parts.append(part)
        self._filled += len(part.content)
        if self._filled >= self._frame:
            self._close_frame()

    def _close_frame(self) -> None:
        parts, self._parts, self._filled = self._parts, [], 0
        frame = self._compressing.submit(_frame, parts, raw=self._is_raw)
        self._waiting.append((parts, self._writing.submit(self._write, frame)))
        self._place_frames(down_to=_AHEAD)

    def _write(self, frame: Future[tuple[bytes, bool]]) -> tuple[int, bool]:
        """Write a frame; its length in the file, and whether it is compressed."""
        data, is_compressed = frame.result()
        write_all(self._disk, self._file, data)
        self._unsynced += len(data)
        if self._unsynced >= _SYNC_EVERY:
            self._disk.fsync(self._file)
            self._unsynced = 0
        return len(data), is_compressed

    def _place_frames(self, *, down_to: int) -> None:
        while len(self._waiting) > down_to:
            parts, written = self._waiting.pop(0)
            length, is_compressed = written.result()
            told = length if is_compressed else 0
            start = 0
            for digest, content, is_list in parts:
                size = len(content)
                marked = size | _IS_LIST if is_list else size
                self.index += _RECORD.pack(bytes.fromhex(digest), self._offset, told, start, marked)
                start += size
            self._offset += length


def _frame(parts: list[_Part], *, raw: bool) -> tuple[bytes, bool]:
    """What stands in the file for some blobs, and whether that is compressed."""
    content = b"".join([part.content for part in parts])
    if raw or (len(parts) == 1 and not _can_be_compressed(content)):
        return content, False
    return zlib.compress(content, _LEVEL), True


def _can_be_compressed(content: bytes) -> bool:
    """Whether that makes a blob smaller: films, archives and the weights of models stay what they are."""
    if len(content) <= _SAMPLE:
        return True
    middle = (len(content) - _SAMPLE) // 2
    sample = content[middle : middle + _SAMPLE]
    return len(zlib.compress(sample, _LEVEL)) < _OF_USE * len(sample)


@contextmanager
def new_pack(folder: Path, disk: Disk, *, raw: bool = False, frame: int = FRAME) -> Iterator[PackWriter]:
    """A writer for a new pack in `folder`, which appears there when the block ends well. Raises OSError."""
    path = folder / f"{new_uid()}{_RAW if raw else '.pack'}"
    beside = path.with_name(path.name + TEMPORARY)
    file = disk.open(beside, NEW_FILE)
    writer = PackWriter(path, file, disk, raw=raw, frame=frame)
    try:
        try:
            yield writer
            writer.finish()
            disk.fsync(file)
        finally:
            writer.end()
            disk.close(file)
        if writer.index:
            disk.rename(beside, path)
            sync_folder(disk, folder)
    finally:
        if not writer.index or not path.exists():
            discard(disk, beside)
