"""Detection of repository configuration that makes read-only git commands run programs.

The settings are documented in git-config(1), the hook in githooks(5).

A cloned repository has no such configuration; one extracted from an archive may. The check covers everything
git reads for `git status` or `git diff`: the configuration of the repository, of its submodules and of the
repositories nested in its index.
"""

import os
import re
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from kimi_tui.permission.git_index_entries import read_gitlinks

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
_UNREADABLE = (OSError, ValueError, IndexError)
_MAX_GITFILE_BYTES = 4096
_MAX_MODULES = 200
_MAX_FOLDERS = 20_000
"""Directories of a work tree that are searched for nested repositories."""


def config_runs_programs(git_dir: Path, work_tree: Path) -> bool:
    """Return whether git may run a program from the repository's configuration when it reads the work tree.

    Configuration that can't be read counts as running programs.
    """
    try:
        return any(_names_programs(*each) for each in _find_git_dirs(git_dir, work_tree, set()))
    except _UNREADABLE:
        return True


def index_has_repositories(git_dir: Path) -> bool:
    """Return whether the index records submodules or nested repositories, or can't be read."""
    try:
        return any(True for _ in read_gitlinks(git_dir))
    except _UNREADABLE:
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
        try:
            git_dir = _find_own_git_dir(Path(folder), {work_tree / ".git"})
        except _UNREADABLE:
            return True
        if git_dir is not None and config_runs_programs(git_dir, Path(folder)):
            return True
    return False


def read_gitfile(dot_git: Path) -> Path:
    """Return the git directory that a file named `.git` names. Raises OSError and ValueError."""
    with dot_git.open(encoding="utf-8", errors="surrogateescape") as file:
        target = file.read(_MAX_GITFILE_BYTES).removeprefix("gitdir:").strip()
    return (dot_git.parent / target).resolve()


def _find_git_dirs(git_dir: Path, work_tree: Path, seen: set[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield the git directories whose configuration git reads, each with its work tree."""
    if git_dir in seen:
        return
    seen.add(git_dir)
    if len(seen) > _MAX_MODULES:
        raise ValueError("too many repositories to check")
    yield git_dir, work_tree
    common = git_dir / "commondir"
    if common.is_file():
        yield git_dir / common.read_text("utf-8", "surrogateescape").strip(), work_tree
    modules = (git_dir / "modules").rglob("config") if (git_dir / "modules").is_dir() else ()
    module_dirs = [config.parent for config in islice(modules, _MAX_MODULES + 1)]
    if len(module_dirs) > _MAX_MODULES:
        raise ValueError("too many submodules to check")
    yield from ((folder, work_tree) for folder in module_dirs)
    for name in read_gitlinks(git_dir):
        nested = work_tree / name
        if (nested_dir := _find_own_git_dir(nested, seen)) is not None:
            yield from _find_git_dirs(nested_dir, nested, seen)


def _find_own_git_dir(folder: Path, known: Collection[Path]) -> Path | None:
    """Return the git directory of `folder`, or None if it has no repository.

    It must be in a directory named `.git` or in a known one, whose files no tool changes without approval.
    Raises OSError and ValueError.
    """
    dot_git = folder / ".git"
    if not os.path.lexists(dot_git):
        return None
    git_dir = dot_git.resolve() if dot_git.is_dir() else read_gitfile(dot_git)
    if ".git" not in git_dir.parts and not any(git_dir.is_relative_to(each) for each in known):
        raise ValueError("the repository is among the project's files")
    return git_dir


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


def _read_text(path: Path) -> str:
    if not path.exists():
        return ""
    if not path.is_file() or path.stat().st_size > _MAX_BYTES:
        raise ValueError("not a readable file")
    return path.read_text("utf-8", "surrogateescape")
