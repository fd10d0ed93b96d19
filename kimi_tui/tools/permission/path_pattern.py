"""Patterns of paths, as `.gitignore` has them; relative to the work dir, or absolute."""

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_SPECIAL = re.compile(r"([*?\[\]\\!#])")
_WILDCARD = re.compile(r"(?<!\\)[*?\[]")


def matches(pattern: str, path: Path, work_dir: Path, *, ignoring_case: bool = False) -> bool:
    """Whether `path`, absolute and with links resolved, is one that `pattern` means."""
    anchored, root = _anchored(pattern, work_dir)
    if not path.is_relative_to(root) or path == root:
        return False
    below = str(path.relative_to(root))
    if ignoring_case and _spec(anchored.casefold()).match_file(below.casefold()):
        return True
    return bool(_spec(anchored).match_file(below))


def names(pattern: str, path: Path, work_dir: Path) -> bool:
    """Whether `pattern` names `path` itself, without a wildcard."""
    if _WILDCARD.search(pattern):
        return False
    anchored, root = _anchored(pattern, work_dir)
    return root / re.sub(r"\\(.)", r"\1", anchored).lstrip("/") == path


def pattern_for(path: Path, root: Path, *, is_work_dir: bool) -> str:
    """The pattern that names `path`, which lies below `root`, and nothing else."""
    below = _SPECIAL.sub(r"\\\1", str(path.relative_to(root)))
    return f"./{below}" if is_work_dir else _SPECIAL.sub(r"\\\1", str(path))


def folder_pattern_for(path: Path, root: Path, *, is_work_dir: bool) -> str:
    """The pattern for all in the folder of `path`; `path` alone when that folder is `root` itself."""
    if path.parent == root:
        return pattern_for(path, root, is_work_dir=is_work_dir)
    folder = path.parent.relative_to(root) if is_work_dir else path.parent
    return _SPECIAL.sub(r"\\\1", str(folder)) + "/**"


def problem_of(pattern: str) -> tuple[str, str] | None:
    """What is wrong with `pattern`, and what to do about it; None when nothing is."""
    if pattern.startswith(("!", "#")):
        return f"it begins with {pattern[0]}", "Write a rule of its own under deny for what is excepted."
    if ".." in re.split(r"[/\\]", pattern):
        return "it goes up with ..", "Write what lies outside the work dir as an absolute path."
    if pattern != pattern.strip() or "\n" in pattern:
        return "it has white space around it", "Leave that out."
    return None


def _anchored(pattern: str, work_dir: Path) -> tuple[str, Path]:
    """The pattern to match below a folder, and that folder."""
    if pattern == "~" or pattern.startswith("~/"):
        pattern = str(Path.home()) + pattern[1:]
    if pattern.startswith("/"):
        return pattern, Path("/")
    return (pattern[1:] if pattern.startswith("./") else pattern), work_dir


@lru_cache(maxsize=256)
def _spec(pattern: str) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # takes 60 ms, and most sessions never need it

    return GitIgnoreSpec.from_lines([pattern])
