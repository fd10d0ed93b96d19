"""State of a Git repository: `HEAD`, branches and stashes, read from its files without running git.

The format is that of https://git-scm.com/docs/gitrepository-layout. The "reftable" format isn't read.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from pathlib import Path

from kimi_tui.base.frozen import frozen

_MAX_BYTES = 4 << 20
"""Larger files are skipped."""
_MAX_LOOSE = 1000
"""Maximum number of branches that are read from their own files."""
_HEADS = "refs/heads/"
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@frozen
class GitState:
    """State of a repository. Commits are hashes."""

    exists: bool = False
    branch: str = ""
    """The current branch; empty if `HEAD` is detached."""
    commit: str = ""
    """The commit of `HEAD`; empty before the first commit."""
    branches: dict[str, str] = field(default_factory=dict)
    stashes: tuple[str, ...] = ()
    """The commits of the stashes, the newest last."""


class GitStateReader:
    """Reads the state of the repository that contains `work_dir`. Files are read only if one has changed."""

    def __init__(self, work_dir: Path) -> None:
        self._work_dir = work_dir
        self._stamp: list[tuple[str, int, int]] | None = None
        self._state = GitState()

    def read(self) -> GitState:
        """Return the current state. Unreadable parts count as missing."""
        folder = find_git_dir(self._work_dir)
        if folder is None:
            return GitState()
        common = folder / (_read(folder / "commondir").strip() or ".")
        stamp = _stamp_of(folder, common)
        if stamp != self._stamp:
            self._stamp, self._state = stamp, _read_state(folder, common)
        return self._state


def _stamp_of(folder: Path, common: Path) -> list[tuple[str, int, int]]:
    """Return a value that changes with the files of a state, since git replaces a file to change it."""
    names = (folder / "HEAD", common / "packed-refs", common / "logs" / "refs" / "stash")
    files = [*names, *_loose_files(common)]
    stamp = []
    for file in files:
        try:
            info = file.stat()
        except OSError:
            continue
        stamp.append((str(file), info.st_ino, info.st_mtime_ns))
    return stamp


def _read_state(folder: Path, common: Path) -> GitState:
    branches = dict(_packed_branches(common)) | dict(_loose_branches(common))
    head = _read(folder / "HEAD").strip()
    branch = head.removeprefix(f"ref: {_HEADS}") if head.startswith(f"ref: {_HEADS}") else ""
    return GitState(
        exists=True,
        branch=branch,
        commit=branches.get(branch, "") if branch else _hash_in(head),
        branches=branches,
        stashes=tuple(_stashes(common)),
    )


def find_git_dir(work_dir: Path) -> Path | None:
    """Return the directory with the repository's data: `.git`, or the directory that a `.git` file names."""
    for folder in (work_dir, *work_dir.parents):
        git = folder / ".git"
        if git.is_dir():
            return git
        if (named := _read(git).strip()).startswith("gitdir: "):
            return folder / named.removeprefix("gitdir: ")
    return None


def _packed_branches(common: Path) -> Iterator[tuple[str, str]]:
    for line in _read(common / "packed-refs").splitlines():
        commit, _, name = line.partition(" ")
        if name.startswith(_HEADS) and _HASH.fullmatch(commit):
            yield name.removeprefix(_HEADS), commit


def _loose_branches(common: Path) -> Iterator[tuple[str, str]]:
    for file in _loose_files(common):
        if commit := _hash_in(_read(file)):
            yield file.relative_to(common / _HEADS).as_posix(), commit


def _loose_files(common: Path) -> Iterator[Path]:
    files = (Path(folder, name) for folder, _, names in os.walk(common / _HEADS) for name in names)
    yield from islice(files, _MAX_LOOSE)


def _stashes(common: Path) -> Iterator[str]:
    if not (common / "refs" / "stash").exists():
        return
    for line in _read(common / "logs" / "refs" / "stash").splitlines():
        _, _, rest = line.partition(" ")
        if commit := _hash_in(rest):
            yield commit


def _hash_in(text: str) -> str:
    match = _HASH.match(text)
    return match[0] if match is not None else ""


def _read(file: Path) -> str:
    """Return the text of a small regular file; empty if it doesn't exist."""
    try:
        if not file.is_file() or file.stat().st_size > _MAX_BYTES:
            return ""
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
