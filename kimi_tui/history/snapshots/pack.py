"""Packs: many blobs in one file, written in one go.

Layout: zlib frames, each of up to `FRAME` bytes of content or of one larger blob; the index, a record
(digest, frame offset, frame length, start in the frame's content, size) for each blob; a footer (index
offset, number of blobs, magic). Small files are compressed together since setting up a compressor costs as
much as compressing 20 KB. A frame length of 0 says that the content lies there as it is.
"""

import struct
import zlib
from collections import OrderedDict
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kimi_tui.base.identity import new_uid
from kimi_tui.history.disk import NEW_FILE, TEMPORARY, Disk, discard, sync_folder, write_all

FRAME = 1 << 18
_LEVEL = 1
_RAW = "-raw.pack"
"""How packs end that were written in haste, without compression; the next collection writes them anew."""
_RECORD = struct.Struct(">20sQIII")
_DIGEST = 20
_FOOTER = struct.Struct(">QQ8s")
_MAGIC = b"kimipck1"
_FRAMES_AT_HAND = 8
"""Files that lie together are mostly read together."""
_AHEAD = 4
"""How many frames may wait for being compressed and written."""
_SYNC_EVERY = 64 << 20
"""After so many bytes the medium gets them, so that the end needn't wait for all of them."""


class Pack:
    """A pack that is there."""

    def __init__(self, path: Path, index: bytes) -> None:
        self.path = path
        self._index = index
        records = range(0, len(index), _RECORD.size)
        self._places = {index[at : at + _DIGEST].hex(): at for at in records}
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
        """Of what it holds."""
        return self._places.keys()

    @property
    def is_raw(self) -> bool:
        """Whether nothing in it is compressed."""
        return self.path.name.endswith(_RAW)

    def read(self, digest: str) -> bytes:
        """A blob's content. Raises OSError, zlib.error."""
        _, offset, length, start, size = _RECORD.unpack_from(self._index, self._places[digest])
        if not length:
            with self.path.open("rb") as file:
                file.seek(offset + start)
                return file.read(size)
        if (content := self._frames.get(offset)) is None:
            with self.path.open("rb") as file:
                file.seek(offset)
                content = zlib.decompress(file.read(length))
            self._frames[offset] = content
            if len(self._frames) > _FRAMES_AT_HAND:
                self._frames.popitem(last=False)
        return content[start : start + size]


class PackWriter:
    """Collects blobs into a pack; compressing and writing go on in a thread of their own."""

    def __init__(self, path: Path, file: int, disk: Disk, thread: ThreadPoolExecutor, *, raw: bool) -> None:
        self.path = path
        """Where the pack will be."""
        self._file = file
        self._disk = disk
        self._thread = thread
        self._is_raw = raw
        self._offset = 0
        self._unsynced = 0
        self._parts: list[tuple[str, bytes]] = []
        self._filled = 0
        self._waiting: list[tuple[list[tuple[str, bytes]], Future[int]]] = []
        self.index = bytearray()

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
        self._place_frames(down_to=0)
        footer = _FOOTER.pack(self._offset, len(self.index) // _RECORD.size, _MAGIC)
        write_all(self._disk, self._file, bytes(self.index) + footer)

    def _close_frame(self) -> None:
        parts, self._parts, self._filled = self._parts, [], 0
        self._waiting.append((parts, self._thread.submit(self._write_frame, parts)))
        self._place_frames(down_to=_AHEAD)

    def _write_frame(self, parts: list[tuple[str, bytes]]) -> int:
        """Write a frame, in the thread; its length in the file."""
        content = b"".join([content for _, content in parts])
        data = content if self._is_raw else zlib.compress(content, _LEVEL)
        write_all(self._disk, self._file, data)
        self._unsynced += len(data)
        if self._unsynced >= _SYNC_EVERY:
            self._disk.fsync(self._file)
            self._unsynced = 0
        return len(data)

    def _place_frames(self, *, down_to: int) -> None:
        while len(self._waiting) > down_to:
            parts, written = self._waiting.pop(0)
            length = written.result()
            told = 0 if self._is_raw else length
            start = 0
            for digest, content in parts:
                size = len(content)
                self.index += _RECORD.pack(bytes.fromhex(digest), self._offset, told, start, size)
                start += size
            self._offset += length


@contextmanager
def new_pack(folder: Path, disk: Disk, *, raw: bool = False) -> Iterator[PackWriter]:
    """A writer for a new pack in `folder`, which appears there when the block ends well. Raises OSError."""
    path = folder / f"{new_uid()}{_RAW if raw else '.pack'}"
    beside = path.with_name(path.name + TEMPORARY)
    with ExitStack() as stack:
        thread = stack.enter_context(ThreadPoolExecutor(1))
        file = disk.open(beside, NEW_FILE)
        try:
            try:
                writer = PackWriter(path, file, disk, thread, raw=raw)
                yield writer
                writer.finish()
                disk.fsync(file)
            finally:
                thread.shutdown()
                disk.close(file)
            if writer.index:
                disk.rename(beside, path)
                sync_folder(disk, folder)
        finally:
            if not writer.index or not path.exists():
                discard(disk, beside)
