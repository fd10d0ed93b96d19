"""Content: what a file holds, read and kept, with what tells whether the file has changed since."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kimi_tui.history.snapshots.blobs import BlobSink, at_once
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.known import Key, lasting_key

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHECK_EVERY = 64
"""Pieces."""


class Kept(NamedTuple):
    """A regular file that was read."""

    entry: Entry
    """A file whose content is kept; or why it is left out."""
    key: Key
    """By which it is known from now on; empty when it may have changed without that showing."""


class _LeftOut(Exception):
    """A file that can't be read to its end."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.ref)
        self.entry = entry


def keep_content(
    path: str,
    limit: int,
    seen: Key,
    sink: BlobSink,
    *,
    check: Callable[[], object] = lambda: None,
) -> Kept:
    """Read the regular file at `path`, which had the key `seen` just before, and keep up to `limit` bytes.

    One that is large is never in memory as a whole; `check` is called again and again meanwhile. Raises
    FileNotFoundError, OSError when the content can't be kept, and what `check` raises.
    """
    mtime, _, size, _, kind_and_mode = seen
    mode = stat.S_IMODE(kind_and_mode)
    if size > limit:
        return Kept(_too_large(mode, size, mtime), seen)
    lasting = lasting_key(seen)
    try:
        file = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        return Kept(_left_out(error), seen)
    try:
        if size <= at_once(sink):
            try:
                data = os.read(file, size + 1)
            except OSError as error:
                return Kept(_left_out(error), seen)
            if len(data) == size:
                return Kept(Entry("file", mode, size, sink.put(data)), lasting)
        info = os.fstat(file)
        mode = stat.S_IMODE(info.st_mode)
        if not stat.S_ISREG(info.st_mode):
            return Kept(Entry("omitted", mode, 0, "it is no regular file"), seen)
        os.lseek(file, 0, os.SEEK_SET)
        try:
            digest, length = sink.put_pieces(_pieces(file, sink.piece, limit, check))
        except _LeftOut as left_out:
            return Kept(left_out.entry, seen)
        return Kept(Entry("file", mode, length, digest), lasting if length == size else ())
    finally:
        os.close(file)


def _pieces(file: int, size: int, limit: int, check: Callable[[], object]) -> Iterator[bytes]:
    """What is in a file, in pieces of `size` bytes. Raises _LeftOut."""
    done = 0
    number = 0
    while piece := _piece(file, size):
        done += len(piece)
        if done > limit:
            info = os.fstat(file)
            raise _LeftOut(_too_large(stat.S_IMODE(info.st_mode), info.st_size, info.st_mtime_ns))
        yield piece
        number += 1
        if number % _CHECK_EVERY == 0:
            check()


def _piece(file: int, size: int) -> bytes:
    """The next `size` bytes; fewer at the end. Raises _LeftOut."""
    try:
        data = os.read(file, size)
        while 0 < len(data) < size and (more := os.read(file, size - len(data))):
            data += more
    except OSError as error:
        raise _LeftOut(_left_out(error)) from error
    return data


def _too_large(mode: int, size: int, mtime: int) -> Entry:
    return Entry("omitted", mode, size, "it is too large", mtime)


def _left_out(error: OSError) -> Entry:
    return Entry("omitted", 0, 0, error.strerror or "it can't be read")
