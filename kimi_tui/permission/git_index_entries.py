"""Entries of git indexes: names of tracked files, and directories recorded as repositories.

The format is documented in gitformat-index(5).
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_MAX_BYTES = 64 << 20
_VERSIONS = (2, 3, 4)
_BYTES_BEFORE_MODE, _BYTES_BEFORE_HASH, _BYTES_OF_FLAGS = 24, 40, 2
_EXTENDED = 0x40
_SHA256 = re.compile(r"^\s*objectformat\s*=\s*\"?sha256", re.IGNORECASE | re.MULTILINE)
_GITLINK = b"\x00\x00\xe0\x00"
"""Mode of an entry for a submodule or another nested repository."""


def read_names(git_dir: Path) -> Iterator[str]:
    """Yield the names of all entries; none of an index that can't be read."""
    n_hash = _hash_bytes(git_dir)
    for index in _find_indexes(git_dir):
        with suppress(OSError, ValueError):
            info = index.stat()
            yield from _parse_names(index, n_hash, info.st_mtime_ns, info.st_size)


def read_gitlinks(git_dir: Path) -> Iterator[str]:
    """Yield the names of entries that are repositories. Raises OSError and ValueError."""
    for index in _find_indexes(git_dir):
        data = _read(index)
        if _GITLINK in data:
            for name, mode in _iter_entries(data, _hash_bytes(git_dir)):
                if mode == _GITLINK:
                    yield name


def _find_indexes(git_dir: Path) -> Iterator[Path]:
    """Yield the index and its shared parts."""
    if (git_dir / "index").is_file():
        yield git_dir / "index"
    yield from git_dir.glob("sharedindex.*")


def _hash_bytes(git_dir: Path) -> int:
    try:
        config = (git_dir / "config").read_text("utf-8", "replace")
    except OSError:
        return 20
    return 32 if _SHA256.search(config) else 20


def _read(index: Path) -> bytes:
    if index.stat().st_size > _MAX_BYTES:
        raise ValueError("the index is too large to check")
    return index.read_bytes()


@lru_cache(maxsize=4)
def _parse_names(index: Path, n_hash: int, mtime_ns: int, size: int) -> tuple[str, ...]:
    """Return the names in an index. Raises OSError and ValueError."""
    names: list[str] = []
    data = _read(index)
    with suppress(IndexError, ValueError):  # a damaged index: git reads no further, either
        names.extend(name for name, _ in _iter_entries(data, n_hash))
    return tuple(names)


def _iter_entries(data: bytes, n_hash: int) -> Iterator[tuple[str, bytes]]:
    """Yield name and mode of all entries. Compressed names (version 4) share a prefix with the one before.

    Raises ValueError if the version isn't known or the data ends early.
    """
    version = int.from_bytes(data[4:8], "big")
    if version not in _VERSIONS:
        raise ValueError("unknown version of the index")
    n_fixed = _BYTES_BEFORE_HASH + n_hash + _BYTES_OF_FLAGS
    at, name = 12, b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        if at + n_fixed > len(data):
            raise ValueError("the index ends early")
        mode = data[at + _BYTES_BEFORE_MODE : at + _BYTES_BEFORE_MODE + len(_GITLINK)]
        is_extended = data[at + n_fixed - _BYTES_OF_FLAGS] & _EXTENDED
        start = at + n_fixed + (2 if is_extended else 0)
        if version == 4:
            n_dropped, start = _read_number(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - n_dropped] + data[start:end]
            at = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            at += (end - at) // 8 * 8 + 8
        yield name.decode("utf-8", "surrogateescape"), mode


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, as the offsets in gitformat-pack(5), and where it ends."""
    number = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        number = ((number + 1) << 7) | (data[at] & 0x7F)
    return number, at + 1
