"""Scanner: walks the working directory and reports possible changes since the last scan.

It reads only directories, links and ignore files; the caller reads file contents. Symbolic links are not
followed.
"""

import contextlib
import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kimi_tui.base.gitignore import VCS_FOLDERS
from kimi_tui.base.ids import is_temporary_name
from kimi_tui.history.snapshots.coverage_rules import IGNORE_FILE, CoverageRules
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Entry, absolute_path
from kimi_tui.history.snapshots.stat_cache import (
    CachedFolder,
    StatCache,
    StatKey,
    is_folder_key,
    key_of,
    key_of_folder,
    pack_key,
)

_NOTHING = CachedFolder()
_CHECK_EVERY = 64
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


class FolderWatcher(Protocol):
    """Records changes made in a directory after its scan began."""

    def watch(self, folder: str) -> None:
        """Start watching a directory."""
        ...


class TooManyFiles(Exception):
    """The working directory contains more files than may be covered."""


@dataclass(slots=True)
class Scan:
    """The result of a walk."""

    files: list[tuple[str, bytes]] = field(default_factory=list)
    """Regular files that are new or may have changed, with their packed current keys."""
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
        """Update `cache`, including the keys of `files`. The caller invalidates files that it can't read."""
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
        watcher: FolderWatcher,
    ) -> None:
        self._watcher = watcher
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
        """Walk the working directory and the added directories.

        If one of these was deleted, everything in it counts as missing. Raises TooManyFiles, ScanCanceled,
        DeadlineExceeded, and OSError if the working directory can't be read.
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
        """Scan a directory. Return the subdirectories to scan, each with its `stale` and `newly_covered`.

        `stale`: ignore rules may have changed. `newly_covered`: the directory was ignored before.
        """
        cached = self._cache.folders.get(folder)
        skipped = cached.skipped if cached is not None and not stale else frozenset()
        full_path = absolute_path(self._root, folder)
        self._watcher.watch(full_path)
        try:
            found = _stat_members(full_path, skipped)
        except OSError as error:
            is_deleted = isinstance(error, FileNotFoundError) and (folder == "" or folder.endswith("/"))
            if not is_deleted:
                self._result.unreadable[folder] = error.strerror or "can't be read"
                return []
            found = {}
        self._count(len(found))
        prefix = f"{folder}/" if folder else ""
        if cached is not None and not stale:
            covered = {name: key for name, key in found.items() if key} if skipped else found
            unchanged = cached.unchanged_folders([*covered], [*covered.values()])
            if unchanged is not None:
                return [(prefix + name, False, newly_covered) for name in unchanged]
        known = cached.keys if cached is not None and not stale else {}
        subfolders: list[tuple[str, bool, bool]] = []
        changed: list[tuple[str, StatKey]] = []
        n_unchanged = 0
        for name, key in found.items():
            if not key:
                continue
            if known.get(name) == key:
                n_unchanged += 1
            elif is_folder_key(key) and known.get(name) == key_of_folder(key[-1]):
                n_unchanged += 1
                subfolders.append((prefix + name, False, newly_covered))
            else:
                changed.append((name, key))
        if not changed and cached is not None and n_unchanged == len(cached.keys):
            return subfolders
        changed_names = {name for name, _ in changed}
        if not stale and cached is not None and _rules_changed(found.keys(), changed_names, cached):
            self._n_files -= len(found)
            return self._scan_folder(folder, True, newly_covered)
        return subfolders + self._process_changed(
            folder, changed, found.keys(), cached or _NOTHING, stale=stale, newly_covered=newly_covered
        )

    def _process_changed(
        self,
        folder: str,
        changed: list[tuple[str, StatKey]],
        names: Collection[str],
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
        skipped = set() if stale else {name for name in cached.skipped if name in names}
        rules = self._rules.in_folder(folder, names)
        has_rules = self._rules.can_ignore(rules)
        subfolders = []
        for name, found in changed:
            path = prefix + name
            is_folder = is_folder_key(found)
            if is_temporary_name(name):
                continue
            if name in VCS_FOLDERS or (has_rules and self._rules.ignores(path, rules, is_folder=is_folder)):
                skipped.add(name)
                keys.pop(name, None)
                if name in cached.keys:
                    self._drop(path, self._result.newly_ignored)
                continue
            key = key_of_folder(found[-1]) if is_folder else found
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
            self._add_entry(path, key)
            keys[name] = key
            if is_folder:
                subfolders.append((path, stale, is_newly_covered))
        for name in cached.keys:
            if name not in names:
                self._drop(prefix + name, self._result.missing)
        self._result.folders[folder] = CachedFolder(keys, frozenset(skipped))
        self._result.folders[folder].pack()
        return subfolders

    def _add_entry(self, path: str, key: StatKey) -> None:
        if stat.S_ISREG(key[-1]):
            self._result.files.append((path, pack_key(key)))
            return
        if (entry := entry_without_content(absolute_path(self._root, path), key[-1])) is not None:
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


def _stat_members(folder: str, skipped: Collection[str]) -> dict[str, StatKey]:
    """Return the names in a directory with their keys; `skipped` names get empty keys. Raises OSError.

    The names are resolved from the open directory, since whole paths take the system longer.
    """
    handle = os.open(folder, _OPEN_FLAGS) if os.scandir in os.supports_fd else None
    try:
        with os.scandir(folder if handle is None else handle) as scan:
            try:
                if not skipped:
                    return {entry.name: key_of(entry.stat(follow_symlinks=False)) for entry in scan}
                return {
                    entry.name: () if entry.name in skipped else key_of(entry.stat(follow_symlinks=False))
                    for entry in scan
                }
            except OSError:  # a file was just removed
                pass
        with os.scandir(folder if handle is None else handle) as scan:
            infos = {entry.name: () if entry.name in skipped else _lstat(entry) for entry in scan}
            return {name: key for name, key in infos.items() if key is not None}
    finally:
        if handle is not None:
            os.close(handle)


def _lstat(entry: "os.DirEntry[str]") -> StatKey | None:
    try:
        return key_of(entry.stat(follow_symlinks=False))
    except OSError:
        return None


def _rules_changed(names: Collection[str], changed_names: set[str], cached: CachedFolder) -> bool:
    """Return whether a directory's ignore file has changed, or a git repository appeared or disappeared."""
    if IGNORE_FILE in changed_names or (IGNORE_FILE in cached.keys and IGNORE_FILE not in names):
        return True
    return (".git" in names) != (".git" in cached.skipped)


def entry_without_content(path: str, st_mode: int) -> Entry | None:
    """Return the entry of a directory, a link or a special file; None if a link was just removed."""
    mode = stat.S_IMODE(st_mode)
    match stat.S_IFMT(st_mode):
        case stat.S_IFDIR:
            return Entry("folder", mode, 0, "")
        case stat.S_IFLNK:
            try:
                return Entry("link", 0o777, 0, os.readlink(path))  # noqa: PTH115
            except OSError:
                return None
        case _:
            return Entry("omitted", mode, 0, "not a regular file")
