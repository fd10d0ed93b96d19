"""Scanner: walks the working directory and reports what may have changed since the last scan.

It reads only directories, links and ignore files; the caller reads file contents. Symbolic links are not
followed.
"""

import contextlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.base.gitignore import VCS_FOLDERS
from kimi_tui.base.ids import is_temporary_name
from kimi_tui.history.snapshots.coverage_rules import IGNORE_FILE, CoverageRules
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Entry, absolute_path
from kimi_tui.history.snapshots.stat_cache import CachedFolder, StatCache, StatKey, key_of, share_numbers

_NOTHING = CachedFolder()
_CHECK_EVERY = 64
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


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
        rules: CoverageRules,
        added_dirs: Sequence[str] = (),
        deadline: ScanDeadline,
    ) -> None:
        self._rules = rules
        self._root = str(root)
        self._cache = cache
        self._max_files = max_files
        self._deadline = deadline
        self._result = Scan()
        self._added_dirs = added_dirs
        self._n_files = 0
        self._n_folders = 0

    def run(self) -> Scan:
        """Walk the directory.

        If the directory was deleted, so was everything in it. Raises TooManyFiles, ScanCanceled,
        DeadlineExceeded, and OSError if it can't be read.
        """
        self._result.rules = self._rules.stamp
        stale = self._result.rules != self._cache.rules
        stack = [("", stale, False), *((f"{folder}/", stale, False) for folder in self._added_dirs)]
        with contextlib.suppress(FileNotFoundError), os.scandir(self._root):
            pass
        while stack:
            stack += self._scan_folder(*stack.pop())
        return self._result

    def _scan_folder(self, folder: str, stale: bool, newly_covered: bool) -> list[tuple[str, bool, bool]]:
        """Scan a directory. Return those of its subdirectories that have to be scanned.

        `stale`: ignore rules may have changed. `newly_covered`: the directory was ignored before.
        """
        try:
            found = _stat_members(absolute_path(self._root, folder))
        except OSError as error:
            is_deleted = isinstance(error, FileNotFoundError) and (folder == "" or folder.endswith("/"))
            if not is_deleted:
                self._result.unreadable[folder] = error.strerror or "can't be read"
                return []
            found = []
        self._count(len(found))
        cached = self._cache.folders.get(folder)
        keys = cached.keys if cached is not None else {}
        skipped = cached.skipped if cached is not None and not stale else frozenset()
        prefix = f"{folder}/" if folder else ""
        subfolders: list[tuple[str, bool, bool]] = []
        changed: list[tuple[str, os.stat_result]] = []
        n_unchanged = 0
        known = {} if stale else keys
        for name, info in found:
            if name in skipped:
                continue
            key = known.get(name)
            if key == key_of(info):
                n_unchanged += 1
            elif key == (info.st_mode,) and stat.S_ISDIR(info.st_mode):
                n_unchanged += 1
                subfolders.append((prefix + name, False, newly_covered))
            else:
                changed.append((name, info))
        if not changed and n_unchanged == len(keys) and cached is not None:
            return subfolders
        names = {name for name, _ in found}
        changed_names = {name for name, _ in changed}
        if not stale and cached is not None and _rules_changed(names, changed_names, cached):
            self._n_files -= len(found)
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
        rules = self._rules.in_folder(folder, names)
        has_rules = self._rules.can_ignore(rules)
        subfolders = []
        for name, info in changed:
            path = prefix + name
            is_folder = stat.S_ISDIR(info.st_mode)
            if is_temporary_name(name):
                continue
            if name in VCS_FOLDERS or (has_rules and self._rules.ignores(path, rules, is_folder=is_folder)):
                skipped.add(name)
                keys.pop(name, None)
                if name in cached.keys:
                    self._drop(path, self._result.newly_ignored)
                continue
            key = share_numbers((info.st_mode,) if is_folder else key_of(info))
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

    def _add_entry(self, path: str, info: os.stat_result, key: StatKey) -> None:
        if stat.S_ISREG(info.st_mode):
            self._result.files.append((path, key))
            return
        if (entry := entry_without_content(absolute_path(self._root, path), info)) is not None:
            self._result.entries[path] = entry

    def _drop(self, path: str, dropped: list[str]) -> None:
        dropped.append(path)
        if path in self._cache.folders:
            self._drop_below(path, dropped)

    def _drop_below(self, path: str, dropped: list[str]) -> None:
        self._result.removed_folders.append(path)
        for name in self._cache.folders[path].keys:
            self._drop(f"{path}/{name}", dropped)

    def _count(self, n_files: int) -> None:
        self._n_files += n_files
        self._n_folders += 1
        if self._n_files > self._max_files:
            raise TooManyFiles
        if self._n_folders % _CHECK_EVERY == 0:
            self._deadline.check(self._n_files)


def _stat_members(folder: str) -> list[tuple[str, os.stat_result]]:
    """Return the names in a directory, with what `lstat` returns for them. Raises OSError.

    Their paths are resolved from the open directory: the whole path takes the system longer.
    """
    handle = os.open(folder, _OPEN_FLAGS) if os.scandir in os.supports_fd else None
    try:
        with os.scandir(folder if handle is None else handle) as scan:
            try:
                return [(entry.name, entry.stat(follow_symlinks=False)) for entry in scan]
            except OSError:  # one was just removed
                pass
        with os.scandir(folder if handle is None else handle) as scan:
            return [(entry.name, info) for entry in scan if (info := _lstat(entry)) is not None]
    finally:
        if handle is not None:
            os.close(handle)


def _lstat(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _rules_changed(names: set[str], changed_names: set[str], cached: CachedFolder) -> bool:
    """Return whether a directory's ignore file has changed, or a git repository appeared or disappeared."""
    if IGNORE_FILE in changed_names or (IGNORE_FILE in cached.keys and IGNORE_FILE not in names):
        return True
    return (".git" in names) != (".git" in cached.skipped)


def entry_without_content(path: str, info: os.stat_result) -> Entry | None:
    """Return the entry of a directory, a link or a special file; None if a link was just removed."""
    mode = stat.S_IMODE(info.st_mode)
    match stat.S_IFMT(info.st_mode):
        case stat.S_IFDIR:
            return Entry("folder", mode, 0, "")
        case stat.S_IFLNK:
            try:
                return Entry("link", 0o777, 0, os.readlink(path))  # noqa: PTH115
            except OSError:
                return None
        case _:
            return Entry("omitted", mode, 0, "not a regular file")
