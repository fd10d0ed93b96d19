"""Detection of repository configuration that makes read-only git commands run programs.

The settings are documented in git-config(1), the hook in githooks(5).

A cloned repository has no such configuration; one extracted from an archive may. The check covers everything
git reads for `git status` or `git diff`: the configuration of the repository, of its submodules and of the
repositories nested in its index.
"""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_KEY = re.compile(
    r"(?:^|\])[^\S\n]*+(fsmonitor|textconv|command|external|clean|process|smudge|program|hookspath)"
    r"[^\S\n]*(?:=[^\S\n]*(.*))?$",
    re.IGNORECASE | re.MULTILINE,
)
"""Keys appear at the start of a line or after their section header."""
_INCLUDE = re.compile(r"(?:^|\])[^\S\n]*+\[[^\S\n]*+include", re.IGNORECASE | re.MULTILINE)
_PARTIAL_CLONE = re.compile(r"promisor|partialclone", re.IGNORECASE)
_TRANSPORT_SETTING = re.compile(
    r"sshcommand|gitproxy|uploadpack|\bvcs\b|::|askpass|\bhelper\b", re.IGNORECASE
)
"""Settings that may run a program when git fetches an object missing from a partial clone."""
_BOOLEAN = re.compile(r"true|false|yes|no|on|off|[01]", re.IGNORECASE)
_KNOWN_PROGRAM = re.compile(
    r"\"?(?:\\\")?(?:git-lfs|git-crypt|git-nbdiffdriver|nbdime|nbstripout)(?:\\\")?\"?(?: [\w.%=-]+)*\"?"
)
"""Values that well-known programs, found on the PATH, write there when they are installed."""
_MAX_BYTES = 1 << 20
_MAX_INDEX_BYTES = 64 << 20
_MAX_MODULES = 200
_MAX_FOLDERS = 20_000
"""Directories of a work tree that are searched for nested repositories."""
_GITLINK = b"\x00\x00\xe0\x00"
_MODE_TO_FLAGS, _MODE_TO_NAME = 36, 38
"""Offsets in bytes from an index entry's mode to its flags and its path. Extended flags add 2 bytes."""


def config_runs_programs(git_dir: Path, work_tree: Path) -> bool:
    """Return whether git may run a program from the repository's configuration when it reads the work tree.

    Configuration that can't be read counts as running programs.
    """
    try:
        return any(_names_programs(each, work_tree) for each in _find_git_dirs(git_dir, work_tree))
    except (OSError, ValueError):
        return True


def nested_repository_runs_programs(work_tree: Path) -> bool:
    """Return whether git may run a program for a nested repository, once the index records that.

    A work tree that is too large to search counts as having one.
    """
    for count, (folder, names, files) in enumerate(os.walk(work_tree)):
        if count > _MAX_FOLDERS:
            return True
        if ".git" not in (*names, *files) or folder == str(work_tree):
            names[:] = [name for name in names if name != ".git"]
            continue
        names.clear()  # the repository's own files don't belong to the outer one
        git_dir = Path(folder, ".git")
        if not git_dir.is_dir() or config_runs_programs(git_dir, Path(folder)):
            return True
    return False


def _find_git_dirs(git_dir: Path, work_tree: Path) -> Iterator[Path]:
    yield git_dir
    common = git_dir / "commondir"
    if common.is_file():
        yield git_dir / common.read_text("utf-8", "surrogateescape").strip()
    modules = (git_dir / "modules").rglob("config") if (git_dir / "modules").is_dir() else ()
    module_dirs = [config.parent for config in islice(modules, _MAX_MODULES + 1)]
    if len(module_dirs) > _MAX_MODULES:
        raise ValueError("too many submodules to check")
    yield from module_dirs
    yield from _find_nested(git_dir, work_tree)


def _names_programs(git_dir: Path, work_tree: Path) -> bool:
    hooks = [git_dir / "hooks"]
    for name in ("config", "config.worktree"):
        text = _read_text(git_dir / name)
        if _INCLUDE.search(text) or (_PARTIAL_CLONE.search(text) and _TRANSPORT_SETTING.search(text)):
            return True
        for match in _KEY.finditer(text):
            key, setting = match[1].lower(), (match[2] or "").strip()
            if key == "hookspath":
                hooks.append(work_tree / Path(setting.strip('"')).expanduser())
            elif not (_KNOWN_PROGRAM.fullmatch(setting) or (key == "fsmonitor" and _is_boolean(setting))):
                return True
    return any((folder / "post-index-change").exists() for folder in hooks)


def _is_boolean(setting: str) -> bool:
    return not setting or _BOOLEAN.fullmatch(setting) is not None


def _find_nested(git_dir: Path, work_tree: Path) -> Iterator[Path]:
    """Yield the repositories in the work tree that the index records as gitlinks."""
    index = git_dir / "index"
    if not index.is_file():
        return
    if index.stat().st_size > _MAX_INDEX_BYTES:
        raise ValueError("the index is too large to check")
    data = index.read_bytes()
    at = data.find(_GITLINK)
    if at >= 0 and (int.from_bytes(data[4:8], "big") > 3 or "sha256" in _read_text(git_dir / "config")):
        raise ValueError("unsupported index format")  # other offsets, or paths relative to the previous entry
    while at >= 0:
        start = at + _MODE_TO_NAME + 2 * _has_more_flags(data[at + _MODE_TO_FLAGS : at + _MODE_TO_FLAGS + 1])
        name = data[start : data.find(b"\x00", start)].decode("utf-8", "surrogateescape")
        nested = work_tree / name / ".git"
        if name and os.path.isdir(nested):  # noqa: PTH112 - pathlib raises for an invalid name
            yield nested
        at = data.find(_GITLINK, at + 1)


def _has_more_flags(byte: bytes) -> bool:
    return bool(byte) and bool(byte[0] & 0x40)


def _read_text(path: Path) -> str:
    if not path.exists():
        return ""
    if not path.is_file() or path.stat().st_size > _MAX_BYTES:
        raise ValueError("not a readable file")
    return path.read_text("utf-8", "surrogateescape")
