"""Path patterns in `.gitignore` syntax, relative to the working directory or absolute."""

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.base.message_text import msg

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_SPECIAL = re.compile(r"([*?\[\]\\!#])")
_WILDCARD = re.compile(r"(?<!\\)[*?\[]")


def matches_path(pattern: str, path: Path, work_dir: Path, *, ignoring_case: bool = False) -> bool:
    """Return whether `pattern` matches `path`, which is absolute, with links resolved."""
    anchored, root = _anchor(pattern, work_dir)
    if not path.is_relative_to(root) or path == root:
        return False
    relative = str(path.relative_to(root))
    if ignoring_case and _compile(anchored.casefold()).match_file(relative.casefold()):
        return True
    return bool(_compile(anchored).match_file(relative))


def is_exact(pattern: str, path: Path, work_dir: Path) -> bool:
    """Return whether `pattern` names `path` itself, without a wildcard."""
    return exact_path_of(pattern, work_dir) == path


def exact_path_of(pattern: str, work_dir: Path) -> Path | None:
    """Return the path that `pattern` names; None if it has a wildcard."""
    if _WILDCARD.search(pattern):
        return None
    anchored, root = _anchor(pattern, work_dir)
    return root / re.sub(r"\\(.)", r"\1", anchored).lstrip("/")


def pattern_for(path: Path, root: Path, *, is_work_dir: bool) -> str:
    """Return the pattern that matches only `path`, which is below `root`."""
    relative = _SPECIAL.sub(r"\\\1", str(path.relative_to(root)))
    return f"./{relative}" if is_work_dir else _SPECIAL.sub(r"\\\1", str(path))


def folder_pattern_for(path: Path, root: Path, *, is_work_dir: bool) -> str:
    """Return the pattern for everything in the directory of `path`; for `path` alone if that is in `root`."""
    if path.parent == root:
        return pattern_for(path, root, is_work_dir=is_work_dir)
    folder = path.parent.relative_to(root) if is_work_dir else path.parent
    return _SPECIAL.sub(r"\\\1", str(folder)) + "/**"


def find_pattern_problem(pattern: str) -> tuple[str, str] | None:
    """Return the problem of `pattern` and how to fix it; None if it is valid."""
    if pattern.startswith(("!", "#")):
        return msg("it begins with {character}", character=pattern[0]), "Add a deny rule for the exceptions."
    if ".." in re.split(r"[/\\]", pattern):
        return msg("it contains .."), "Use an absolute path for files outside the working directory."
    if pattern != pattern.strip() or "\n" in pattern:
        return msg("it has leading or trailing whitespace"), "Remove the whitespace."
    return None


def _anchor(pattern: str, work_dir: Path) -> tuple[str, Path]:
    """Return the pattern relative to a directory, and that directory."""
    if pattern == "~" or pattern.startswith("~/"):
        pattern = str(Path.home()) + pattern[1:]
    if pattern.startswith("/"):
        return pattern, Path("/")
    return (pattern[1:] if pattern.startswith("./") else pattern), work_dir


@lru_cache(maxsize=256)
def _compile(pattern: str) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # the import takes 60 ms, and most sessions never need it

    return GitIgnoreSpec.from_lines([pattern])
