"""What must be done at least: walking over files, reading and hashing them, copying them."""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path


def walk(root: Path) -> int:
    """Stat everything below `root`; how much there is."""
    return sum(1 for _ in _walked(root))


def hash_all(root: Path) -> int:
    """Read and hash every file below `root`; how many bytes they hold."""
    total = 0
    for entry in _walked(root):
        if entry.is_file(follow_symlinks=False):
            data = Path(entry.path).read_bytes()
            hashlib.blake2b(data, digest_size=20).digest()
            total += len(data)
    return total


def copy_all(files: Iterable[Path], folder: Path) -> None:
    """Copy `files`, each of another name, into `folder`, down to the medium."""
    for file in files:
        with (folder / file.name).open("wb") as copy:
            copy.write(file.read_bytes())
            copy.flush()
            os.fsync(copy.fileno())


def compressed(file: Path) -> int:
    """How many bytes a file takes compressed."""
    return len(zlib.compress(file.read_bytes()))


def _walked(root: Path) -> Iterator["os.DirEntry[str]"]:
    folders = [str(root)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                yield entry
