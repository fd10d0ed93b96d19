"""Minimal disk work: walking a directory tree, reading, hashing and copying files."""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path


def walk(root: Path) -> int:
    """Stat everything below `root` and return the number of entries."""
    return sum(1 for _ in _walk_entries(root))


def hash_all(root: Path) -> int:
    """Read and hash every file below `root` and return the total number of bytes."""
    total = 0
    for entry in _walk_entries(root):
        if entry.is_file(follow_symlinks=False):
            data = Path(entry.path).read_bytes()
            hashlib.blake2b(data, digest_size=20).digest()
            total += len(data)
    return total


def copy_all(files: Iterable[Path], folder: Path) -> None:
    """Copy `files`, whose names are unique, to `folder` and flush them to disk."""
    for file in files:
        with (folder / file.name).open("wb") as copy:
            copy.write(file.read_bytes())
            copy.flush()
            os.fsync(copy.fileno())


def compressed_size(file: Path) -> int:
    """Return the compressed size of a file."""
    return len(zlib.compress(file.read_bytes()))


def _walk_entries(root: Path) -> Iterator["os.DirEntry[str]"]:
    folders = [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                yield entry
