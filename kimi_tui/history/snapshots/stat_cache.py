"""Stat cache: the stat data of the working directory's files, so that unchanged files aren't read again.

If size, mtime, ctime, inode and mode of a file are unchanged, its content is, too. File system clocks are
coarse, so a file that changed within `RACY_NS` nanoseconds before it was read is read again the next time.
"""

import json
import marshal
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from os import stat_result
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.filesystem import FileSystem, replace_file
from kimi_tui.history.snapshots.chunked_json import MAX_ITEMS, chunks, encode_compact, inflate_lines
from kimi_tui.history.snapshots.entry import Entry

RACY_NS = 2_000_000_000
_SEPARATOR = "/"
"""Separator of packed names: the only printable character that no name contains."""
_VERSION = 0
"""The format of packed keys: equal keys have equal bytes, and numbers have no limit."""
_MAX_UNPACKED = 64
"""Number of directories whose names are unpacked at the same time."""
StatKey = tuple[int, ...]
"""(mtime, ctime, size, inode, mode) of a file, (mode,) of a directory; times in nanoseconds."""


_ATTRIBUTES = ("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_mode")
key_of: Callable[[stat_result], StatKey] = attrgetter(*_ATTRIBUTES)
"""Returns the key that shows whether a file has changed. Scans call it for each file."""


def key_of_folder(mode: int) -> StatKey:
    """Return the key of a directory."""
    return (mode,)


def is_folder_key(key: StatKey) -> bool:
    """Return whether a key of any length is that of a directory."""
    return bool(key) and stat.S_ISDIR(key[-1])


def pack_key(key: StatKey) -> bytes:
    """Return a key as bytes, to save memory for many keys that are needed only once more."""
    return marshal.dumps(key, _VERSION)


def unpack_key(packed: bytes) -> StatKey:
    """Return a key that `pack_key` packed."""
    key: StatKey = marshal.loads(packed)
    return key


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
    """A file or link written by this program. While the file has `key`, its content is that of `entry`."""

    entry: Entry
    key: StatKey


class CachedFolder:
    """The keys of one directory. Packed keys are unpacked on demand; `pack` packs them again."""

    __slots__ = ("_folders", "_keys", "_names", "_packed", "skipped")

    def __init__(
        self, keys: Mapping[str, StatKey] = MappingProxyType({}), skipped: frozenset[str] = frozenset()
    ) -> None:
        self.skipped = skipped
        """The ignored names."""
        self._keys: dict[str, StatKey] | None = dict(keys)
        self._names = ""
        self._packed = b""
        self._folders: tuple[int, ...] = ()
        """Positions of the subdirectories."""

    @property
    def keys(self) -> dict[str, StatKey]:
        """The key of each covered name. Names with an empty key have to be read again."""
        if self._keys is None:
            self._keys = self.read_keys()
        return self._keys

    def read_keys(self) -> dict[str, StatKey]:
        """Return the same as `keys`, but leave the directory packed. Don't change the result."""
        if self._keys is not None:
            return self._keys
        keys = marshal.loads(self._packed)  # written by `pack` in this process
        return dict(zip(self._names.split(_SEPARATOR), keys, strict=True)) if keys else {}

    def names(self) -> frozenset[str]:
        """Return the covered names."""
        if self._keys is not None:
            return frozenset(self._keys)
        return frozenset(self._names.split(_SEPARATOR) if self._names else ())

    def pack(self) -> None:
        """Pack the keys. The objects in `keys` are freed."""
        if self._keys is None:
            return
        keys = [*self._keys.values()]
        self._names = _SEPARATOR.join(self._keys)
        self._packed = marshal.dumps(keys, _VERSION)
        self._folders = tuple(number for number, key in enumerate(keys) if len(key) == 1)
        self._keys = None

    def unchanged_folders(self, names: Sequence[str], keys: Sequence[StatKey]) -> list[str] | None:
        """Return the subdirectories if the directory still has these `names`, in this order, and `keys`.

        Otherwise, or if this object isn't packed, return None. In `keys`, subdirectories have keys of the
        same length as files.
        """
        if self._keys is not None or _SEPARATOR.join(names) != self._names or len(keys) != len(names):
            return None
        compared = [*keys]
        for number in self._folders:
            compared[number] = key_of_folder(keys[number][-1])
        if marshal.dumps(compared, _VERSION) != self._packed:
            return None
        return [names[number] for number in self._folders]


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

    def without_key(self, paths: Iterable[str]) -> set[str]:
        """Return the paths that have no cached key. Meant for many paths."""
        names_in = lru_cache(_MAX_UNPACKED)(lambda folder: self.folders[folder].names())
        missing = set()
        for path in paths:
            folder, _, name = path.rpartition("/")
            if folder not in self.folders or name not in names_in(folder):
                missing.add(path)
        return missing

    def pack(self) -> None:
        """Free the keys that were unpacked since the last call."""
        for folder in self.folders.values():
            folder.pack()

    def invalidate(self, path: str) -> None:
        """Make the next scan read a path again."""
        folder, _, name = path.rpartition("/")
        if (cached := self.folders.get(folder)) is not None and name in cached.keys:
            cached.keys[name] = ()


def save_stat_cache(fs: FileSystem, path: Path, cache: StatCache, manifest: str) -> None:
    """Save the cache of the working directory in the state `manifest`. Raises OSError."""
    compressor = zlib.compressobj(1)
    pieces = [compressor.compress(encode_compact({"manifest": manifest, "rules": cache.rules}))]
    pieces += (compressor.compress(b"\n" + line) for line in _lines(cache))
    make_private_dir(path.parent)
    replace_file(fs, path, [*pieces, compressor.flush()])


def load_stat_cache(path: Path) -> tuple[StatCache, str] | None:
    """Return a saved cache and its manifest id; None if there is no usable cache."""
    try:
        lines = inflate_lines(path.read_bytes())
        record = json.loads(next(lines))
        cache = StatCache(rules=str(record["rules"]))
        folder = CachedFolder()
        for line in lines:
            for name, keys, skipped in json.loads(line):
                if name not in cache.folders:
                    folder.pack()
                    folder = cache.folders[name] = CachedFolder(skipped=frozenset(skipped))
                folder.keys.update((file, tuple(key)) for file, key in keys.items())
        folder.pack()
        return cache, str(record["manifest"])
    except (OSError, zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return None


def _lines(cache: StatCache) -> Iterator[bytes]:
    """Yield lists of [directory, keys, skipped]. A directory with many files spans several lines."""
    line: list[tuple[str, Mapping[str, StatKey], list[str]]] = []
    filled = 0
    for name, folder in cache.folders.items():
        for keys in chunks(folder.read_keys()):
            line.append((name, keys, sorted(folder.skipped)))
            filled += len(keys) + 1
            if filled > MAX_ITEMS:
                yield encode_compact(line)
                line, filled = [], 0
    if line:
        yield encode_compact(line)
