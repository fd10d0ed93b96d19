"""Content: a file's bytes, with what tells whether the file has changed since."""

import os
import stat
from typing import NamedTuple

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.known import Key, key_of

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Content(NamedTuple):
    """A regular file that was read."""

    data: bytes
    mode: int
    key: Key
    """The file's before it was read: one that changes meanwhile has another one afterwards."""
    changed_ns: int
    """When the file last changed, as its file system says."""


def read_content(path: str, limit: int, seen: os.stat_result) -> Content | Entry:
    """The content of the regular file at `path`, which was `seen` just before, or as what it is left out.

    Raises FileNotFoundError.
    """
    size = seen.st_size
    if size > limit:
        return Entry("omitted", stat.S_IMODE(seen.st_mode), size, "it is too large", seen.st_mtime_ns)
    try:
        file = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        return Entry("omitted", 0, 0, error.strerror or "it can't be read")
    try:
        data = os.read(file, size + 1)
        if len(data) != size:
            data = _rest(file, data, limit)
            seen = os.fstat(file)
    except OSError as error:
        return Entry("omitted", 0, 0, error.strerror or "it can't be read")
    finally:
        os.close(file)
    if len(data) != size:
        if not stat.S_ISREG(seen.st_mode):
            return Entry("omitted", stat.S_IMODE(seen.st_mode), 0, "it is no regular file")
        if len(data) > limit:
            mode = stat.S_IMODE(seen.st_mode)
            return Entry("omitted", mode, len(data), "it is too large", seen.st_mtime_ns)
        return Content(data, stat.S_IMODE(seen.st_mode), (), 0)
    mode, changed_ns = stat.S_IMODE(seen.st_mode), max(seen.st_mtime_ns, seen.st_ctime_ns)
    return Content(data, mode, key_of(seen), changed_ns)


def _rest(file: int, begun: bytes, limit: int) -> bytes:
    """What has been read of a file that is longer or shorter than it was, and what is left."""
    parts = [begun]
    length = len(begun)
    while length <= limit and (more := os.read(file, 1 << 20)):
        parts.append(more)
        length += len(more)
    return b"".join(parts)
