"""Which files git ignores, read from the ignore files themselves: no git is run."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from kimi_tui.base.wildcards import FOLDERS, NAME_PART, with_gaps

VCS_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})
"""Never looked into unless a path leads there."""
_MAX_IGNORE_BYTES = 1 << 20


class Patterns:
    """The patterns of one ignore file. Most paths are told from all of them by a look at their letters."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._each = [
            (_letters(line), pattern)
            for line in lines
            for pattern in _patterns(line)
            if pattern.include is not None
        ]
        self._spec = GitIgnoreSpec([pattern for _, pattern in self._each], backend="simple")

    def check(self, path: str) -> bool | None:
        """Whether `path`, relative to the file's folder, is ignored; None when no pattern speaks of it."""
        for letters, pattern in self._each:
            if letters in path and pattern.match_file(path) is not None:
                return self._spec.check_file(path).include
        return None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The ignore files in force within one folder. Outside of repositories there are none."""

    layers: tuple[tuple[str, Patterns], ...] = ()
    """Folder and patterns, the nearest last: a later one wins over an earlier one."""
    is_active: bool = False
    """Whether the folder lies in a repository."""

    def entering(self, folder: str, names: Collection[str]) -> "IgnoreRules":
        """The rules within `folder`, which holds `names`."""
        rules = self
        if ".git" in names:
            rules = IgnoreRules(tuple(_layers_of_repository(folder)), is_active=True)
        if rules.is_active and ".gitignore" in names and (spec := _spec(Path(folder, ".gitignore"))):
            return IgnoreRules((*rules.layers, (folder, spec)), is_active=True)
        return rules

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether `path`, absolute and below the folder, is ignored."""
        for base, spec in reversed(self.layers):
            relative = path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
            verdict = spec.check(relative + "/" if is_folder else relative)
            if verdict is not None:
                return verdict
        return False


def rules_above(folder: Path) -> IgnoreRules:
    """The rules of the folders above `folder`. None apply when it is ignored itself: it was asked for."""
    rules = IgnoreRules()
    for parent, child in pairwise((*reversed(folder.parents), folder)):
        names = [name for name in (".git", ".gitignore") if os.path.lexists(parent / name)]
        rules = rules.entering(str(parent), names)
        if rules.ignores(str(child), is_folder=True):
            return IgnoreRules()
    return rules


def rules_of(lines: Sequence[str], folder: Path) -> IgnoreRules:
    """The rules that `lines` make, as if they were the ignore file of `folder`."""
    return IgnoreRules(((str(folder), Patterns(lines)),) if lines else (), is_active=bool(lines))


def _layers_of_repository(root: str) -> list[tuple[str, Patterns]]:
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    files = (config / "git" / "ignore", Path(root, ".git", "info", "exclude"))
    return [(root, spec) for spec in map(_spec, files) if spec]


def _spec(file: Path) -> Patterns | None:
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            text = stream.read(_MAX_IGNORE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    return Patterns(text.split("\n"))


def _patterns(line: str) -> list[GitIgnoreSpecPattern]:
    """The pattern in a line; none when pathspec doesn't take it: git passes over what it can't read."""
    try:
        pattern = GitIgnoreSpecPattern(line)
        if pattern.regex is not None:
            pattern.regex = re.compile(_steady(pattern.regex.pattern))
    except (ValueError, re.error):
        return []
    return [pattern]


def _steady(regex: str) -> str:
    """What pathspec makes of a pattern, so that no path keeps it busy (`wildcards`)."""
    aligned = regex.replace("(?:/.+)?/", f"/{FOLDERS}").replace("(?:.+/)?", FOLDERS)
    return with_gaps(
        (with_gaps(piece.split(NAME_PART), NAME_PART) for piece in aligned.split(FOLDERS)), FOLDERS
    )


def _letters(line: str) -> str:
    """Letters that every path has which a pattern matches: the longest run of them."""
    if "\\" in line:
        return ""
    plain = line.strip().lstrip("!").partition("[")[0]
    return max(re.split(r"[*?/]", plain), key=len)
