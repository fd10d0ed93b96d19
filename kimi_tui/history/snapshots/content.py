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


def read_content(path: str, limit: int, seen: os.stat_result) -> Content | Entry:
    """The content of the regular file at `path`, which was `seen` just before, or as what it is left out.

    Raises FileNotFoundError.
    """
    if seen.st_size > limit:
        mode = stat.S_IMODE(seen.st_mode)
        return Entry("omitted", mode, seen.st_size, "it is too large", seen.st_mtime_ns)
    try:
        file = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        return Entry("omitted", 0, 0, error.strerror or "it can't be read")
    try:
        data = _whole(file, seen.st_size, limit)
        info = os.fstat(file)
    except OSError as error:
        return Entry("omitted", 0, 0, error.strerror or "it can't be read")
    finally:
        os.close(file)
    if not stat.S_ISREG(info.st_mode):
        return Entry("omitted", stat.S_IMODE(info.st_mode), 0, "it is no regular file")
    if len(data) > limit:
        return Entry("omitted", stat.S_IMODE(info.st_mode), len(data), "it is too large", info.st_mtime_ns)
    key = key_of(info)
    is_one_state = key == key_of(seen) and info.st_size == len(data)
    return Content(
        data, stat.S_IMODE(info.st_mode), key if is_one_state else (), max(info.st_mtime_ns, info.st_ctime_ns)
    )


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
