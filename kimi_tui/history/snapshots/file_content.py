"""File contents: reading a file into a blob store, with a stat key that shows later changes."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kimi_tui.history.snapshots.attributes.file_attributes import FileAttributes, read_attributes
from kimi_tui.history.snapshots.blob_store import BlobSink, max_whole_size
from kimi_tui.history.snapshots.entry import Entry, share_mode
from kimi_tui.history.snapshots.stat_cache import StatKey, stable_key

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHECK_EVERY = 64
"""Number of pieces between calls of `check`."""


class StoredContent(NamedTuple):
    """A regular file that was read."""

    entry: Entry
    """The file with its stored content, or an omitted entry with the reason."""
    key: StatKey
    """The key to cache; empty if the file may change without changing its key."""
    attributes: FileAttributes | None = None
    """The unusual attributes of a file that was read."""


class _UnreadableFile(Exception):
    """A file that can't be read completely."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.ref)
        self.entry = entry


def store_content(
    path: str,
    limit: int,
    stat_key: StatKey,
    sink: BlobSink,
    *,
    check: Callable[[], object] = lambda: None,
) -> StoredContent:
    """Read the regular file at `path`, and store its content unless that exceeds `limit` bytes.

    `stat_key` is the file's current key. A large file is never completely in memory; `check` is called
    repeatedly while the file is read. Raises FileNotFoundError, OSError if the content can't be stored, and
    any error of `check`.
    """
    mtime, _, size, _, kind_and_mode = stat_key
    mode = share_mode(stat.S_IMODE(kind_and_mode))
    if size > limit:
        return StoredContent(_too_large_entry(mode, size, mtime), stat_key)
    cache_key = stable_key(stat_key)
    try:
        file = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        return StoredContent(_unreadable_entry(error), stat_key)
    try:
        if size <= max_whole_size(sink):
            try:
                data = os.read(file, size + 1)
            except OSError as error:
                return StoredContent(_unreadable_entry(error), stat_key)
            if len(data) == size:
                entry = Entry("file", mode, size, sink.put(data))
                return StoredContent(entry, cache_key, read_attributes(file, os.fstat(file)))
        info = os.fstat(file)
        mode = share_mode(stat.S_IMODE(info.st_mode))
        if not stat.S_ISREG(info.st_mode):
            return StoredContent(Entry("omitted", mode, 0, "not a regular file"), stat_key)
        os.lseek(file, 0, os.SEEK_SET)
        try:
            digest, length = sink.put_pieces(_read_pieces(file, sink.piece, limit, check))
        except _UnreadableFile as error:
            return StoredContent(error.entry, stat_key)
        entry = Entry("file", mode, length, digest)
        return StoredContent(entry, cache_key if length == size else (), read_attributes(file, info))
    finally:
        os.close(file)


def _read_pieces(file: int, size: int, limit: int, check: Callable[[], object]) -> Iterator[bytes]:
    """Yield the content of a file in pieces of `size` bytes. Raises _UnreadableFile."""
    done = 0
    number = 0
    while piece := _read_piece(file, size):
        done += len(piece)
        if done > limit:
            info = os.fstat(file)
            raise _UnreadableFile(
                _too_large_entry(stat.S_IMODE(info.st_mode), info.st_size, info.st_mtime_ns)
            )
        yield piece
        number += 1
        if number % _CHECK_EVERY == 0:
            check()


def _read_piece(file: int, size: int) -> bytes:
    """Return the next `size` bytes; fewer at the end. Raises _UnreadableFile."""
    try:
        data = os.read(file, size)
        while 0 < len(data) < size and (more := os.read(file, size - len(data))):
            data += more
    except OSError as error:
        raise _UnreadableFile(_unreadable_entry(error)) from error
    return data


def _too_large_entry(mode: int, size: int, mtime: int) -> Entry:
    return Entry("omitted", mode, size, "too large", mtime)


def _unreadable_entry(error: OSError) -> Entry:
    return Entry("omitted", 0, 0, error.strerror or "can't be read")
