"""Which files git ignores, read from the ignore files themselves: no git is run."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pathspec import GitIgnoreSpec

VCS_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})
"""Never looked into unless a path leads there."""
_MAX_IGNORE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The ignore files in force within one folder. Outside of repositories there are none."""

    layers: tuple[tuple[str, GitIgnoreSpec], ...] = ()
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
            verdict = spec.check_file(relative + "/" if is_folder else relative).include
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
    spec = GitIgnoreSpec.from_lines(filter(_is_valid, lines))
    return IgnoreRules(((str(folder), spec),) if lines else (), is_active=bool(lines))


def _layers_of_repository(root: str) -> list[tuple[str, GitIgnoreSpec]]:
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    files = (config / "git" / "ignore", Path(root, ".git", "info", "exclude"))
    return [(root, spec) for spec in map(_spec, files) if spec]


def _spec(file: Path) -> GitIgnoreSpec | None:
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            text = stream.read(_MAX_IGNORE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    return GitIgnoreSpec.from_lines(filter(_is_valid, text.split("\n")))


def _is_valid(line: str) -> bool:
    """Whether pathspec takes the pattern: git passes over what it can't read, and so do we."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
