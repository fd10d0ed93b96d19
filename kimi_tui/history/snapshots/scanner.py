"""Scanner: walks the working directory and reports what may have changed since the last scan.

It reads only directories, links and ignore files; the caller reads file contents. Symbolic links are not
followed.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.base.gitignore import VCS_FOLDERS, IgnoreRules, parse_rules, rules_for_parents
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Entry, absolute_path
from kimi_tui.history.snapshots.stat_cache import CachedFolder, StatCache, StatKey, key_of

_IGNORE_FILE = ".gitignore"
_NOTHING = CachedFolder()
_CHECK_EVERY = 64


class TooManyFiles(Exception):
    """The working directory contains more files than may be covered."""


@dataclass(slots=True)
class Scan:
    """The result of a walk."""

    files: list[tuple[str, StatKey]] = field(default_factory=list)
    """Regular files that are new or may have changed, with their current keys."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """Everything else that is new or may have changed: directories, links, special files."""
    missing: list[str] = field(default_factory=list)
    newly_covered: set[str] = field(default_factory=set)
    """Paths found for the first time because they were ignored before."""
    newly_ignored: list[str] = field(default_factory=list)
    """Paths that exist but have become ignored, so that this and later walks don't reach them."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Directories that couldn't be read, and why. Their last known entries stay valid."""
    folders: dict[str, CachedFolder] = field(default_factory=dict)
    """New cache entries of the directories in which something has changed."""
    removed_folders: list[str] = field(default_factory=list)
    """Directories that no longer exist or are no longer covered."""
    rules: str = ""

    def apply_to(self, cache: StatCache) -> None:
        """Update `cache`, also with the keys of `files`; the caller invalidates those it can't read."""
        for path in self.removed_folders:
            cache.folders.pop(path, None)
        cache.folders.update(self.folders)
        cache.rules = self.rules


class Scanner:
    """Walks one working directory."""

    def __init__(
        self,
        root: Path,
        cache: StatCache,
        *,
        max_files: int,
        added_dirs: Sequence[str] = (),
        exclude: Sequence[str] = (),
        own_dir: str = "",
        deadline: ScanDeadline,
    ) -> None:
        self._root = str(root)
        self._cache = cache
        self._max_files = max_files
        self._deadline = deadline
        self._result = Scan()
        self._rules: dict[str, IgnoreRules] = {}
        self._outer_rules = rules_for_parents(root)
        self._exclude_rules = {
            start: parse_rules(exclude, Path(absolute_path(self._root, start))) for start in ("", *added_dirs)
        }
        """Exclusion rules of the working directory ("") and of each added directory."""
        self._exclude = exclude
        self._own_dir = _path_from_root(own_dir, self._root)
        self._added_dirs = added_dirs
        self._n_files = 0
        self._n_folders = 0

    def run(self) -> Scan:
        """Walk the directory.

        Raises TooManyFiles, ScanCanceled, DeadlineExceeded, and OSError if it can't be read.
        """
        self._result.rules = "\n".join((_outer_rules_stamp(Path(self._root)), *self._exclude, self._own_dir))
        stale = self._result.rules != self._cache.rules
        stack = [("", stale, False), *((f"{folder}/", stale, False) for folder in self._added_dirs)]
        with os.scandir(self._root):
            pass
        while stack:
            stack += self._scan_folder(*stack.pop())
        return self._result

    def _scan_folder(self, folder: str, stale: bool, newly_covered: bool) -> list[tuple[str, bool, bool]]:
        """Scan a directory. Return those of its subdirectories that have to be scanned.

        `stale`: ignore rules may have changed. `newly_covered`: the directory was ignored before.
        """
        path = absolute_path(self._root, folder)
        try:
            with os.scandir(path) as scan:
                dir_entries = list(scan)
        except OSError as error:
            self._result.unreadable[folder] = error.strerror or "can't be read"
            return []
        self._count(len(dir_entries))
        cached = self._cache.folders.get(folder)
        keys = cached.keys if cached is not None else {}
        skipped = cached.skipped if cached is not None and not stale else frozenset()
        prefix = f"{folder}/" if folder else ""
        subfolders: list[tuple[str, bool, bool]] = []
        changed: list[tuple[str, os.stat_result]] = []
        n_unchanged = 0
        for entry in dir_entries:
            name = entry.name
            if name in skipped:
                continue
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            key = keys.get(name)
            mode = info.st_mode
            if key is None or stale:
                changed.append((name, info))
            elif mode & 0o170000 == 0o040000:
                if key == (mode,):
                    n_unchanged += 1
                    subfolders.append((prefix + name, False, newly_covered))
                else:
                    changed.append((name, info))
            elif key == (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino, mode):
                n_unchanged += 1
            else:
                changed.append((name, info))
        if not changed and n_unchanged == len(keys) and cached is not None:
            return subfolders
        names = {entry.name for entry in dir_entries}
        changed_names = {name for name, _ in changed}
        if not stale and cached is not None and _rules_changed(names, changed_names, cached):
            self._n_files -= len(dir_entries)
            return self._scan_folder(folder, True, newly_covered)
        return subfolders + self._process_changed(
            folder, changed, names, cached or _NOTHING, stale=stale, newly_covered=newly_covered
        )

    def _process_changed(
        self,
        folder: str,
        changed: list[tuple[str, os.stat_result]],
        names: set[str],
        cached: CachedFolder,
        *,
        stale: bool,
        newly_covered: bool,
    ) -> list[tuple[str, bool, bool]]:
        """Classify the new, changed and removed names of a directory. Return the subdirectories to scan."""
        prefix = f"{folder}/" if folder else ""
        keys: dict[str, StatKey] = (
            {} if stale else {name: key for name, key in cached.keys.items() if name in names}
        )
        skipped = set() if stale else set(cached.skipped & names)
        rules = self._rules_for(folder, names)
        has_rules = bool(rules.layers or self._exclude or self._own_dir)
        subfolders = []
        for name, info in changed:
            path = prefix + name
            is_folder = stat.S_ISDIR(info.st_mode)
            if name in VCS_FOLDERS or (has_rules and self._is_ignored(path, rules, is_folder=is_folder)):
                skipped.add(name)
                keys.pop(name, None)
                if name in cached.keys:
                    self._drop(path, self._result.newly_ignored)
                continue
            key = (info.st_mode,) if is_folder else key_of(info)
            if cached.keys.get(name) == key:
                keys[name] = key
                if is_folder:
                    subfolders.append((path, stale, newly_covered))
                continue
            is_newly_covered = newly_covered or name in cached.skipped
            if is_newly_covered:
                self._result.newly_covered.add(path)
            if not is_folder and path in self._cache.folders:
                self._drop_below(path, self._result.missing)
            self._add_entry(path, info, key)
            keys[name] = key
            if is_folder:
                subfolders.append((path, stale, is_newly_covered))
        for name in cached.keys:
            if name not in names:
                self._drop(prefix + name, self._result.missing)
        self._result.folders[folder] = CachedFolder(keys, frozenset(skipped))
        return subfolders

    def _is_ignored(self, path: str, rules: IgnoreRules, *, is_folder: bool) -> bool:
        full_path = absolute_path(self._root, path)
        if is_folder and full_path == self._own_dir:
            return True
        start = path.partition("//")[0] if path.startswith("/") else ""
        return any(
            each.ignores(full_path, is_folder=is_folder) for each in (rules, self._exclude_rules[start])
        )

    def _add_entry(self, path: str, info: os.stat_result, key: StatKey) -> None:
        kind, mode = stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode)
        if kind == stat.S_IFREG:
            self._result.files.append((path, key))
            return
        match kind:
            case stat.S_IFDIR:
                self._result.entries[path] = Entry("folder", mode, 0, "")
            case stat.S_IFLNK:
                try:
                    target = os.readlink(absolute_path(self._root, path))  # noqa: PTH115
                except OSError:
                    return
                self._result.entries[path] = Entry("link", 0o777, 0, target)
            case _:
                self._result.entries[path] = Entry("omitted", mode, 0, "not a regular file")

    def _drop(self, path: str, dropped: list[str]) -> None:
        dropped.append(path)
        if path in self._cache.folders:
            self._drop_below(path, dropped)

    def _drop_below(self, path: str, dropped: list[str]) -> None:
        self._result.removed_folders.append(path)
        for name in self._cache.folders[path].keys:
            self._drop(f"{path}/{name}", dropped)

    def _rules_for(self, folder: str, names: set[str] | None = None) -> IgnoreRules:
        if (rules := self._rules.get(folder)) is not None:
            return rules
        path = absolute_path(self._root, folder)
        if folder.endswith("/"):
            outer = rules_for_parents(Path(path))
        else:
            outer = self._rules_for(folder.rpartition("/")[0]) if folder else self._outer_rules
        if names is None:
            names = {name for name in (".git", _IGNORE_FILE) if os.path.lexists(f"{path}/{name}")}
        rules = self._rules[folder] = outer.descend(path, names)
        return rules

    def _count(self, n_files: int) -> None:
        self._n_files += n_files
        self._n_folders += 1
        if self._n_files > self._max_files:
            raise TooManyFiles
        if self._n_folders % _CHECK_EVERY == 0:
            self._deadline.check(self._n_files)


def _path_from_root(folder: str, root: str) -> str:
    """Return the path at which the walk of `root` reaches `folder`, whose symbolic links are resolved."""
    real = os.path.realpath(root)
    return root + folder[len(real) :] if folder.startswith(f"{real}/") else folder


def _rules_changed(names: set[str], changed_names: set[str], cached: CachedFolder) -> bool:
    """Return whether a directory's ignore file has changed, or a git repository appeared or disappeared."""
    if _IGNORE_FILE in changed_names or (_IGNORE_FILE in cached.keys and _IGNORE_FILE not in names):
        return True
    return (".git" in names) != (".git" in cached.skipped)


def _outer_rules_stamp(root: Path) -> str:
    """Return a string that changes with the ignore files that the walk itself doesn't cover."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    files = [config / "git" / "ignore", root / ".git" / "info" / "exclude"]
    files += [folder / name for folder in root.parents for name in (_IGNORE_FILE, ".git/info/exclude")]
    stamps = []
    for file in files:
        try:
            info = file.stat()
        except OSError:
            continue
        stamps.append(f"{file}:{info.st_mtime_ns}:{info.st_size}")
    return "\n".join(stamps)
