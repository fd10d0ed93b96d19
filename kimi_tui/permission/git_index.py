"""Files in a git index, whose content commands such as `git diff --cached` show.

The format is documented in gitformat-index(5).
"""

from collections.abc import Collection, Iterator
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
_FIXED_BYTES = 62
"""Size of an entry up to its name, in versions 2 and 3; flags that extend it add 2 bytes."""
_EXTENDED = 0x40


def indexed_files(command: SimpleCommand, folders: Collection[WorkingDir]) -> Iterator[Path]:
    """Yield the files whose tracked content a git command may show; none if it shows only names."""
    if command.program != "git" or not _shows_content([word.text for word in command.arguments]):
        return
    for folder in folders:
        for git_dir, work_tree in find_repository(folder) if folder is not None else ():
            for name in _read_names(git_dir / "index"):
                yield work_tree / name


def _shows_content(texts: list[str]) -> bool:
    subcommand = next((text for text in texts if text in _CONTENT_SUBCOMMANDS), None)
    if subcommand is None:
        return False
    if subcommand in ("log", "stash", "whatchanged"):
        return any(text[:2] in _PATCH_OPTIONS or text in _PATCH_OPTIONS for text in texts)
    return not _NAME_OPTIONS.intersection(texts)


def _read_names(index: Path) -> tuple[str, ...]:
    try:
        info = index.stat()
        return () if info.st_size > _MAX_BYTES else _parse_names(index, info.st_mtime_ns, info.st_size)
    except OSError:
        return ()


@lru_cache(maxsize=4)
def _parse_names(index: Path, mtime_ns: int, size: int) -> tuple[str, ...]:
    """Return the names in an index of version 2 or 3; none in version 4. Raises OSError."""
    data = index.read_bytes()
    if int.from_bytes(data[4:8], "big") not in (2, 3):
        return ()
    names: list[str] = []
    at = 12
    for _ in range(int.from_bytes(data[8:12], "big")):
        flags = int.from_bytes(data[at + 60 : at + 61], "big")
        start = at + _FIXED_BYTES + (2 if flags & _EXTENDED else 0)
        end = data.find(b"\0", start)
        if end < 0:
            break
        names.append(data[start:end].decode("utf-8", "surrogateescape"))
        at += (end - at) // 8 * 8 + 8
    return tuple(names)
