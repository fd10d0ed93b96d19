"""Content: a file's bytes, read so that what was read is known to be one state of it."""

import os
import stat
from dataclasses import dataclass

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.known import Key, key_of

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Content:
    """A regular file that was read."""

    data: bytes
    mode: int
    key: Key
    """Empty when it changed while it was read."""
    changed_ns: int
    """When the file last changed, as its file system says."""


def read_content(path: str, limit: int) -> Content | Entry:
    """The content of the regular file at `path`, or as what it is left out. Raises FileNotFoundError."""
    try:
        file = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        return Entry("omitted", 0, 0, error.strerror or "it can't be read")
    try:
        before = os.fstat(file)
        mode = stat.S_IMODE(before.st_mode)
        if not stat.S_ISREG(before.st_mode):
            return Entry("omitted", mode, 0, "it is no regular file")
        if before.st_size > limit:
            return Entry("omitted", mode, before.st_size, "it is too large", before.st_mtime_ns)
        data = _whole(file, before.st_size, limit)
        after = os.fstat(file)
    except OSError as error:
        return Entry("omitted", 0, 0, error.strerror or "it can't be read")
    finally:
        os.close(file)
    key = key_of(after) if key_of(after) == key_of(before) and after.st_size == len(data) else ()
    return Content(data, mode, key, max(after.st_mtime_ns, after.st_ctime_ns))


def _whole(file: int, size: int, limit: int) -> bytes:
    data = os.read(file, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    length = len(data)
    while length <= limit and (more := os.read(file, 1 << 20)):
        parts.append(more)
        length += len(more)
    return b"".join(parts)
