"""Files in a git index, whose content commands such as `git diff --cached` show.

The format is documented in gitformat-index(5).
"""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.git_repository_scope import find_repository
from kimi_tui.permission.writable_roots import WorkingDir

_CONTENT_SUBCOMMANDS = frozenset(
    {
        "archive", "blame", "cat-file", "diff", "diff-files", "diff-index", "diff-tree", "format-patch",
        "grep",
        "log", "range-diff", "show", "stash", "whatchanged",
    }
)  # fmt: skip
_NAME_OPTIONS = frozenset(
    {"--name-only", "--name-status", "--numstat", "--oneline", "--shortstat", "--stat", "-c", "-l", "-s"}
)
_PATCH_OPTIONS = frozenset({"-p", "-u", "-G", "-S", "--patch"})
_MAX_BYTES = 64 << 20
_VERSIONS = (2, 3, 4)
_BYTES_BEFORE_HASH, _BYTES_OF_FLAGS = 40, 2
_EXTENDED = 0x40
_SHA256 = re.compile(r"^\s*objectformat\s*=\s*\"?sha256", re.IGNORECASE | re.MULTILINE)


def indexed_files(command: SimpleCommand, folders: Collection[WorkingDir]) -> Iterator[Path]:
    """Yield the files whose tracked content a git command may show; none if it shows only names."""
    if command.program != "git" or not _shows_content([word.text for word in command.arguments]):
        return
    for folder in folders:
        for git_dir, work_tree in find_repository(folder) if folder is not None else ():
            n_hash = _hash_bytes(git_dir)
            for index in (git_dir / "index", *git_dir.glob("sharedindex.*")):
                for name in _read_names(index, n_hash):
                    yield work_tree / name


def _shows_content(texts: list[str]) -> bool:
    subcommand = next((text for text in texts if text in _CONTENT_SUBCOMMANDS), None)
    if subcommand is None:
        return False
    if subcommand in ("log", "stash", "whatchanged"):
        return any(text[:2] in _PATCH_OPTIONS or text in _PATCH_OPTIONS for text in texts)
    return not _NAME_OPTIONS.intersection(texts)


def _hash_bytes(git_dir: Path) -> int:
    try:
        config = (git_dir / "config").read_text("utf-8", "replace")
    except OSError:
        return 20
    return 32 if _SHA256.search(config) else 20


def _read_names(index: Path, n_hash: int) -> tuple[str, ...]:
    try:
        info = index.stat()
        return (
            () if info.st_size > _MAX_BYTES else _parse_names(index, n_hash, info.st_mtime_ns, info.st_size)
        )
    except OSError:
        return ()


@lru_cache(maxsize=4)
def _parse_names(index: Path, n_hash: int, mtime_ns: int, size: int) -> tuple[str, ...]:
    """Return the names in an index. Raises OSError."""
    data = index.read_bytes()
    version = int.from_bytes(data[4:8], "big")
    names: list[str] = []
    if version in _VERSIONS:
        with suppress(IndexError, ValueError):  # a damaged index: git reads no further, either
            names.extend(_iter_names(data, n_hash, is_compressed=version == 4))
    return tuple(names)


def _iter_names(data: bytes, n_hash: int, *, is_compressed: bool) -> Iterator[str]:
    """Yield the names of all entries. Compressed ones (version 4) share a prefix with the one before.

    Raises IndexError and ValueError if the data ends early.
    """
    n_fixed = _BYTES_BEFORE_HASH + n_hash + _BYTES_OF_FLAGS
    at, name = 12, b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        is_extended = data[at + n_fixed - _BYTES_OF_FLAGS] & _EXTENDED
        start = at + n_fixed + (2 if is_extended else 0)
        if is_compressed:
            n_dropped, start = _read_number(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - n_dropped] + data[start:end]
            at = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            at += (end - at) // 8 * 8 + 8
        yield name.decode("utf-8", "surrogateescape")


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, as the offsets in gitformat-pack(5), and where it ends."""
    number = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        number = ((number + 1) << 7) | (data[at] & 0x7F)
    return number, at + 1
