"""Coverage rules: which paths of the working directory are ignored, by ignore files and the config."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from kimi_tui.base.gitignore import VCS_FOLDERS, IgnoreRules, parse_rules, rules_for_parents
from kimi_tui.history.snapshots.entry import absolute_path

IGNORE_FILE = ".gitignore"


class CoverageRules:
    """The rules of one working directory and its added directories. Ignore files are read on demand."""

    def __init__(
        self, root: Path, *, added_dirs: Sequence[str] = (), exclude: Sequence[str] = (), own_dir: str = ""
    ) -> None:
        self._root = str(root)
        self._by_folder: dict[str, IgnoreRules] = {}
        self._outer = rules_for_parents(root)
        self._exclude_by_start = {
            start: parse_rules(exclude, Path(absolute_path(self._root, start))) for start in ("", *added_dirs)
        }
        """Exclusion rules of the working directory ("") and of each added directory."""
        self._exclude = exclude
        self._own_dir = _path_from_root(own_dir, self._root)
        self.stamp = "\n".join((_outer_rules_stamp(root), *exclude, self._own_dir))
        """Changes whenever an ignore file changes that a walk of the working directory doesn't reach."""

    def in_folder(self, folder: str, names: Collection[str] | None = None) -> IgnoreRules:
        """Return the rules that apply in a directory. `names` are the names in the directory, if known."""
        if (rules := self._by_folder.get(folder)) is not None:
            return rules
        path = absolute_path(self._root, folder)
        if folder.endswith("/"):
            outer = rules_for_parents(Path(path))
        else:
            outer = self.in_folder(folder.rpartition("/")[0]) if folder else self._outer
        if names is None:
            names = {name for name in (".git", IGNORE_FILE) if os.path.lexists(f"{path}/{name}")}
        rules = self._by_folder[folder] = outer.descend(path, names)
        return rules

    def can_ignore(self, rules: IgnoreRules) -> bool:
        """Return whether anything can be ignored in a directory with these `rules`."""
        return bool(rules.layers or self._exclude or self._own_dir)

    def ignores(self, path: str, rules: IgnoreRules, *, is_folder: bool) -> bool:
        """Return whether `path`, directly in a directory with these `rules`, is ignored."""
        full_path = absolute_path(self._root, path)
        if is_folder and full_path == self._own_dir:
            return True
        start = path.partition("//")[0] if path.startswith("/") else ""
        return any(
            each.ignores(full_path, is_folder=is_folder) for each in (rules, self._exclude_by_start[start])
        )


class IgnoredPaths:
    """The paths that are ignored, directly or because they are in an ignored directory."""

    def __init__(self, rules: CoverageRules) -> None:
        self._rules = rules
        self._folders = {"": False}

    def contains(self, path: str, *, is_folder: bool) -> bool:
        """Return whether a walk of the working directory skips `path`."""
        folder, _, name = path.rpartition("/")
        if folder and not folder.endswith("/") and self._contains_folder(folder):
            return True
        if name in VCS_FOLDERS:
            return True
        rules = self._rules.in_folder(folder)
        return self._rules.can_ignore(rules) and self._rules.ignores(path, rules, is_folder=is_folder)

    def _contains_folder(self, folder: str) -> bool:
        if (known := self._folders.get(folder)) is None:
            known = self._folders[folder] = self.contains(folder, is_folder=True)
        return known


def _path_from_root(folder: str, root: str) -> str:
    """Return the path at which a walk of `root` reaches `folder`, a path without symbolic links."""
    real = os.path.realpath(root)
    return root + folder[len(real) :] if folder.startswith(f"{real}/") else folder


def _outer_rules_stamp(root: Path) -> str:
    """Return a string that changes whenever an ignore file changes that the walk doesn't reach."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    files = [config / "git" / "ignore", root / ".git" / "info" / "exclude"]
    files += [folder / name for folder in root.parents for name in (IGNORE_FILE, ".git/info/exclude")]
    stamps = []
    for file in files:
        try:
            info = file.stat()
        except OSError:
            continue
        stamps.append(f"{file}:{info.st_mtime_ns}:{info.st_size}")
    return "\n".join(stamps)
