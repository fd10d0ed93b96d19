"""Stat cache: the stat data of the working directory's files, so that unchanged files need not be read again.

A file whose size, mtime, ctime, inode and mode are unchanged has the same content. File system clocks are
coarse, so a file that changed within `RACY_NS` before it was read is read again the next time.
"""

import json
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from os import stat_result
from pathlib import Path
from typing import NamedTuple

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.filesystem import FileSystem, replace_file
from kimi_tui.history.snapshots.chunked_json import MAX_ITEMS, chunks, encode_compact, split_lines
from kimi_tui.history.snapshots.entry import Entry, share_mode

RACY_NS = 2_000_000_000
StatKey = tuple[int, ...]
"""(mtime, ctime, size, inode, mode) of a file, (mode,) of a directory, as returned by `os.stat`."""
_SHARED_KEYS: dict[int, StatKey] = {}
"""Keys of directories, by mode."""


_ATTRIBUTES = ("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_mode")
key_of: Callable[[stat_result], StatKey] = attrgetter(*_ATTRIBUTES)
"""Returns the key that shows whether a file has changed. Scans call it for each file."""


def stable_key(key: StatKey) -> StatKey:
    """Return the key to cache for a file that is read now; empty if it changed too recently to be cached."""
    mtime, ctime, *_ = key
    return () if time.time_ns() - max(mtime, ctime) <= RACY_NS else key


def size_of(key: StatKey) -> int:
    """Return the size of a file in its key."""
    return key[2]


def inode_of(key: StatKey) -> int:
    """Return the inode of a file in its key; 0 for a directory."""
    return key[3] if len(key) > 1 else 0


def modification_key(key: StatKey) -> StatKey:
    """Return the part of a key that shows writes and mode changes: (mtime, size, mode).

    The ctime also changes when another hard link is removed, and some file systems renumber inodes.
    """
    return (key[0], key[2], key[4]) if key else ()


class WrittenFile(NamedTuple):
    """A file or link written by this program. As long as it has the key, it has the content of the entry."""

    entry: Entry
    key: StatKey


@dataclass(slots=True)
class CachedFolder:
    """Cached stat data of one directory."""

    keys: dict[str, StatKey] = field(default_factory=dict)
    """The key of each covered name. Names with an empty key have to be read again."""
    skipped: frozenset[str] = frozenset()
    """The ignored names."""


@dataclass(slots=True)
class StatCache:
    """Cached stat data of all covered directories, by path."""

    folders: dict[str, CachedFolder] = field(default_factory=dict)
    rules: str = ""
    """State of the ignore files outside the working directory."""

    def key(self, path: str) -> StatKey | None:
        """Return the cached key of a path."""
        folder, _, name = path.rpartition("/")
        cached = self.folders.get(folder)
        return cached.keys.get(name) if cached is not None else None

    def invalidate(self, path: str) -> None:
        """Make the next scan read a path again."""
        folder, _, name = path.rpartition("/")
        if (cached := self.folders.get(folder)) is not None and name in cached.keys:
            cached.keys[name] = ()


def save_stat_cache(fs: FileSystem, path: Path, cache: StatCache, manifest: str) -> None:
    """Save the cache of the working directory in the state `manifest`. Raises OSError."""
    head = encode_compact({"manifest": manifest, "rules": cache.rules})
    make_private_dir(path.parent)
    replace_file(fs, path, [zlib.compress(b"\n".join([head, *_lines(cache)]), 1)])


def load_stat_cache(path: Path) -> tuple[StatCache, str] | None:
    """Return a saved cache and its manifest id; None if there is no usable one."""
    try:
        lines = split_lines(zlib.decompress(path.read_bytes()))
        record = json.loads(next(lines))
        cache = StatCache(rules=str(record["rules"]))
        for line in lines:
            for name, keys, skipped in json.loads(line):
                folder = cache.folders.setdefault(name, CachedFolder(skipped=frozenset(skipped)))
                folder.keys.update((file, share_numbers(key)) for file, key in keys.items())
        return cache, str(record["manifest"])
    except (OSError, zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return None


def share_numbers(key: Sequence[int]) -> StatKey:
    """Return a key that shares equal numbers with others: a cache may have 100,000 of them."""
    if len(key) == 1:
        return _SHARED_KEYS.setdefault(key[0], (key[0],))
    if len(key) != len(_ATTRIBUTES):
        return tuple(key)
    mtime, ctime, size, inode, mode = key
    return mtime, mtime if mtime == ctime else ctime, size, inode, share_mode(mode)


def _lines(cache: StatCache) -> Iterator[bytes]:
    """Yield lists of [directory, keys, skipped]. A directory with many files spans several lines."""
    line: list[tuple[str, Mapping[str, StatKey], list[str]]] = []
    filled = 0
    for name, folder in cache.folders.items():
        for keys in chunks(folder.keys):
            line.append((name, keys, sorted(folder.skipped)))
            filled += len(keys) + 1
            if filled > MAX_ITEMS:
                yield encode_compact(line)
                line, filled = [], 0
    if line:
        yield encode_compact(line)
