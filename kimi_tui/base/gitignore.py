"""Gitignore rules, read from the ignore files without running git."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from kimi_tui.base.frozen import frozen
from kimi_tui.base.safe_regex import FOLDERS, NAME_PART, join_atomic

VCS_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})
"""Directories of version control systems. Skipped unless a path names one explicitly."""
_MAX_IGNORE_BYTES = 1 << 20


class IgnoreFile:
    """Patterns of one ignore file.

    A substring check rules out most paths before any regular expression runs.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns = [
            (_required_literal(line), pattern)
            for line in lines
            for pattern in _parse_patterns(line)
            if pattern.include is not None
        ]
        self._spec = GitIgnoreSpec([pattern for _, pattern in self._patterns], backend="simple")

    def check(self, path: str) -> bool | None:
        """Return whether `path` is ignored; None if no pattern matches.

        `path` is relative to the ignore file's directory.
        """
        for literal, pattern in self._patterns:
            if literal in path and pattern.match_file(path) is not None:
                return self._spec.check_file(path).include
        return None


@frozen
class IgnoreRules:
    """Ignore files that apply in a directory. No ignore files apply outside of repositories."""

    layers: tuple[tuple[str, IgnoreFile], ...] = ()
    """Directory and ignore file, the nearest directory last. Later layers take precedence."""
    is_active: bool = False
    """Whether the directory is in a repository."""

    def descend(self, folder: str, names: Collection[str]) -> "IgnoreRules":
        """Return the rules for `folder`, which contains entries with these `names`."""
        rules = self
        if ".git" in names:
            rules = IgnoreRules(tuple(_layers_of_repository(folder)), is_active=True)
        if (
            rules.is_active
            and ".gitignore" in names
            and (spec := _read_ignore_file(Path(folder, ".gitignore")))
        ):
            return IgnoreRules((*rules.layers, (folder, spec)), is_active=True)
        return rules

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return whether `path`, an absolute path in this directory, is ignored."""
        for base, spec in reversed(self.layers):
            relative = path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
            verdict = spec.check(relative + "/" if is_folder else relative)
            if verdict is not None:
                return verdict
        return False


def rules_for_parents(folder: Path) -> IgnoreRules:
    """Return the rules of the directories above `folder`.

    No rules apply if `folder` itself is ignored, because the user named it explicitly.
    """
    rules = IgnoreRules()
    for parent, child in pairwise((*reversed(folder.parents), folder)):
        names = [name for name in (".git", ".gitignore") if os.path.lexists(parent / name)]
        rules = rules.descend(str(parent), names)
        if rules.ignores(str(child), is_folder=True):
            return IgnoreRules()
    return rules


def parse_rules(lines: Sequence[str], folder: Path) -> IgnoreRules:
    """Return the rules in `lines`, as if they were the ignore file of `folder`."""
    return IgnoreRules(((str(folder), IgnoreFile(lines)),) if lines else (), is_active=bool(lines))


def _layers_of_repository(root: str) -> list[tuple[str, IgnoreFile]]:
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    files = (config / "git" / "ignore", Path(root, ".git", "info", "exclude"))
    return [(root, spec) for spec in map(_read_ignore_file, files) if spec]


def _read_ignore_file(file: Path) -> IgnoreFile | None:
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            text = stream.read(_MAX_IGNORE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    return IgnoreFile(text.split("\n"))


def _parse_patterns(line: str) -> list[GitIgnoreSpecPattern]:
    """Return the pattern in a line, or an empty list if it is invalid. Git skips invalid lines too."""
    try:
        pattern = GitIgnoreSpecPattern(line)
        if pattern.regex is not None:
            pattern.regex = re.compile(_make_atomic(pattern.regex.pattern))
    except (ValueError, re.error):
        return []
    return [pattern]


def _make_atomic(regex: str) -> str:
    """Return a pattern's regular expression without backtracking (see `safe_regex`)."""
    aligned = regex.replace("(?:/.+)?/", f"/{FOLDERS}").replace("(?:.+/)?", FOLDERS)
    return join_atomic(
        (join_atomic(piece.split(NAME_PART), NAME_PART) for piece in aligned.split(FOLDERS)), FOLDERS
    )


def _required_literal(line: str) -> str:
    """Return the longest literal text that every path matching the pattern contains."""
    if "\\" in line:
        return ""
    plain = line.strip().lstrip("!").partition("[")[0]
    return max(re.split(r"[*?/]", plain), key=len)
