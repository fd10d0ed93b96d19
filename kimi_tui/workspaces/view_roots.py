"""Directories that a view covers: the working directory with its repository, added and nested ones."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.mount_table import mount_of, mounts_below, read_mounts

_SUPPORTED = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "overlay", "bcachefs", "jfs", "reiserfs"}
)
"""File systems that tell the time of each change in the ctime, and that overlayfs can read."""


class RootsUnsupported(Exception):
    """The directories can't be covered by a view; the message says why."""


def find_view_roots(work_dir: Path, added_dirs: Iterable[Path]) -> list[str]:
    """Return the directories to mount views at, outer ones first: absolute and without links.

    In a git repository, the whole repository is covered: git doesn't search for it across mounts. Raises
    RootsUnsupported and OSError.
    """
    wanted = _requested_dirs(work_dir, added_dirs)
    wanted += [git_dir for path in list(wanted) if (git_dir := _linked_git_dir(path)) is not None]
    roots = _without_nested(map(str, wanted))
    mounts = read_mounts()
    found = []
    for root in roots:
        if root == "/":
            raise RootsUnsupported("the root directory can't be covered")
        holding = mount_of(root, mounts)
        for path, mount in [(root, holding), *((each.path, each) for each in mounts_below(root, mounts))]:
            if mount is None or mount.kind not in _SUPPORTED:
                kind = mount.kind if mount is not None else "?"
                raise RootsUnsupported(msg("{path} is on a file system of type {kind}", path=path, kind=kind))
            found.append(path)
    return sorted(found)


def find_covered_dirs(work_dir: Path, added_dirs: Iterable[Path]) -> list[str]:
    """Return the working directory, or its repository, and the added directories.

    Directories within others are left out. Raises OSError.
    """
    return _without_nested(map(str, _requested_dirs(work_dir, added_dirs)))


def _requested_dirs(work_dir: Path, added_dirs: Iterable[Path]) -> list[Path]:
    return [
        _repository_of(work_dir.resolve(strict=True)),
        *(path.resolve(strict=True) for path in added_dirs),
    ]


def _repository_of(path: Path) -> Path:
    """Return the top directory of the git repository that contains `path`; without one, `path` itself."""
    for folder in (path, *path.parents):
        if folder != Path("/") and os.path.lexists(folder / ".git"):
            return folder
    return path


def _linked_git_dir(top: Path) -> Path | None:
    """Return the common git directory of a linked work tree or submodule; None if it is in `top`."""
    with suppress(OSError, ValueError):
        if not (top / ".git").is_file():
            return None
        target = (top / ".git").read_text("utf-8").removeprefix("gitdir:").strip()
        git_dir = (top / target).resolve(strict=True)
        with suppress(FileNotFoundError):
            git_dir = (git_dir / (git_dir / "commondir").read_text("utf-8").strip()).resolve(strict=True)
        return git_dir if git_dir.is_dir() else None
    return None


def _without_nested(paths: Iterable[str]) -> list[str]:
    """Return `paths` without those inside another one."""
    outer: list[str] = []
    for path in sorted(set(paths)):
        if not any(f"{path}/".startswith(f"{each}/") for each in outer):
            outer.append(path)
    return outer
