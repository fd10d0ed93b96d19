"""The scan: one walk over the work dir that tells what may have changed since it was last known.

Nothing is read but folders, links and ignore files; contents are read by who asked. Links are not followed.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kimi_tui.base.ignore import VCS_FOLDERS, IgnoreRules, rules_above, rules_of
from kimi_tui.history.snapshots.entry import Entry, on_disk
from kimi_tui.history.snapshots.known import Folder, Key, Known, key_of
from kimi_tui.history.snapshots.patience import Patience

_IGNORE_FILE = ".gitignore"
_NOTHING = Folder()
_CHECK_EVERY = 64


class TooManyFiles(Exception):
    """There are more files than may be covered."""


@dataclass(slots=True)
class Scan:
    """What a walk found."""

    files: list[tuple[str, Key]] = field(default_factory=list)
    """Regular files that are new or may have changed, with the keys that they have."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """Everything else that is new or may have changed: folders, links, special files."""
    gone: list[str] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    """What is found for the first time since it was ignored before."""
    ended: list[str] = field(default_factory=list)
    """What is there but has come to be ignored."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Folders that could not be read, and why; what was known of them stands."""
    folders: dict[str, Folder] = field(default_factory=dict)
    """What is known now of the folders in which something changed."""
    removed: list[str] = field(default_factory=list)
    """Folders that are not there any more, or not covered."""
    rules: str = ""

    def apply_to(self, known: Known) -> None:
        """Bring `known` up to date. Keys of `files` are there, too: forget those that could not be read."""
        for path in self.removed:
            known.folders.pop(path, None)
        known.folders.update(self.folders)
        known.rules = self.rules


class Scanner:
    """Walks over one work dir."""

    def __init__(
        self,
        root: Path,
        known: Known,
        *,
        max_files: int,
        added: Sequence[str] = (),
        exclude: Sequence[str] = (),
        own: str = "",
        patience: Patience,
    ) -> None:
        self._root = str(root)
        self._known = known
        self._max_files = max_files
        self._patience = patience
        self._result = Scan()
        self._rules: dict[str, IgnoreRules] = {}
        self._outer_rules = rules_above(root)
        self._excluded = {
            start: rules_of(exclude, Path(on_disk(self._root, start))) for start in ("", *added)
        }
        """By what is covered: the work dir, and the folders added to it."""
        self._exclude = exclude
        self._own = _as_named(own, self._root)
        self._added = added
        self._n_files = 0
        self._n_folders = 0

    def run(self) -> Scan:
        """Walk. Raises TooManyFiles, Stopped, TookTooLong, and OSError when the work dir can't be read."""
        self._result.rules = "\n".join((_outer_rules_stamp(Path(self._root)), *self._exclude, self._own))
        stale = self._result.rules != self._known.rules
        stack = [("", stale, False), *((f"{folder}/", stale, False) for folder in self._added)]
        with os.scandir(self._root):
            pass
        while stack:
            stack += self._folder(*stack.pop())
        return self._result

    def _folder(self, folder: str, stale: bool, begun: bool) -> list[tuple[str, bool, bool]]:
        """Look into a folder; the folders below it that have to be looked into.

        `stale`: ignore rules may have changed. `begun`: it was ignored before.
        """
        path = on_disk(self._root, folder)
        try:
            with os.scandir(path) as scan:
                found = list(scan)
        except OSError as error:
            self._result.unreadable[folder] = error.strerror or "it can't be read"
            return []
        self._count(len(found))
        known = self._known.folders.get(folder)
        keys = known.keys if known is not None else {}
        skipped = known.skipped if known is not None and not stale else frozenset()
        prefix = f"{folder}/" if folder else ""
        below: list[tuple[str, bool, bool]] = []
        unsettled: list[tuple[str, os.stat_result]] = []
        seen = 0
        for entry in found:
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
                unsettled.append((name, info))
            elif mode & 0o170000 == 0o040000:
                if key == (mode,):
                    seen += 1
                    below.append((prefix + name, False, begun))
                else:
                    unsettled.append((name, info))
            elif key == (info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino, mode):
                seen += 1
            else:
                unsettled.append((name, info))
        if not unsettled and seen == len(keys) and known is not None:
            return below
        names = {entry.name for entry in found}
        touched = {name for name, _ in unsettled}
        if not stale and known is not None and _rules_changed(names, touched, known):
            self._n_files -= len(found)
            return self._folder(folder, True, begun)
        return below + self._settle(folder, unsettled, names, known or _NOTHING, stale=stale, begun=begun)

    def _settle(
        self,
        folder: str,
        unsettled: list[tuple[str, os.stat_result]],
        names: set[str],
        known: Folder,
        *,
        stale: bool,
        begun: bool,
    ) -> list[tuple[str, bool, bool]]:
        """Sort out what is new or changed in a folder, and what is gone from it."""
        prefix = f"{folder}/" if folder else ""
        keys: dict[str, Key] = (
            {} if stale else {name: key for name, key in known.keys.items() if name in names}
        )
        skipped = set() if stale else set(known.skipped & names)
        rules = self._rules_in(folder, names)
        has_rules = bool(rules.layers or self._exclude or self._own)
        below = []
        for name, info in unsettled:
            path = prefix + name
            is_folder = stat.S_ISDIR(info.st_mode)
            if name in VCS_FOLDERS or (has_rules and self._is_ignored(path, rules, is_folder=is_folder)):
                skipped.add(name)
                keys.pop(name, None)
                if name in known.keys:
                    self._drop(path, self._result.ended)
                continue
            key = (info.st_mode,) if is_folder else key_of(info)
            if known.keys.get(name) == key:
                keys[name] = key
                if is_folder:
                    below.append((path, stale, begun))
                continue
            begins = begun or name in known.skipped
            if begins:
                self._result.begun.add(path)
            if not is_folder and path in self._known.folders:
                self._drop_below(path, self._result.gone)
            self._take(path, info, key)
            keys[name] = key
            if is_folder:
                below.append((path, stale, begins))
        for name in known.keys:
            if name not in names:
                self._drop(prefix + name, self._result.gone)
        self._result.folders[folder] = Folder(keys, frozenset(skipped))
        return below

    def _is_ignored(self, path: str, rules: IgnoreRules, *, is_folder: bool) -> bool:
        whole = on_disk(self._root, path)
        if is_folder and whole == self._own:
            return True
        start = path.partition("//")[0] if path.startswith("/") else ""
        return any(each.ignores(whole, is_folder=is_folder) for each in (rules, self._excluded[start]))

    def _take(self, path: str, info: os.stat_result, key: Key) -> None:
        kind, mode = stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode)
        if kind == stat.S_IFREG:
            self._result.files.append((path, key))
            return
        match kind:
            case stat.S_IFDIR:
                self._result.entries[path] = Entry("folder", mode, 0, "")
            case stat.S_IFLNK:
                try:
                    target = os.readlink(on_disk(self._root, path))  # noqa: PTH115
                except OSError:
                    return
                self._result.entries[path] = Entry("link", 0o777, 0, target)
            case _:
                self._result.entries[path] = Entry("omitted", mode, 0, "it is no regular file")

    def _drop(self, path: str, where: list[str]) -> None:
        where.append(path)
        if path in self._known.folders:
            self._drop_below(path, where)

    def _drop_below(self, path: str, where: list[str]) -> None:
        self._result.removed.append(path)
        for name in self._known.folders[path].keys:
            self._drop(f"{path}/{name}", where)

    def _rules_in(self, folder: str, names: set[str] | None = None) -> IgnoreRules:
        if (rules := self._rules.get(folder)) is not None:
            return rules
        path = on_disk(self._root, folder)
        if folder.endswith("/"):
            outer = rules_above(Path(path))
        else:
            outer = self._rules_in(folder.rpartition("/")[0]) if folder else self._outer_rules
        if names is None:
            names = {name for name in (".git", _IGNORE_FILE) if os.path.lexists(f"{path}/{name}")}
        rules = self._rules[folder] = outer.entering(path, names)
        return rules

    def _count(self, n_files: int) -> None:
        self._n_files += n_files
        self._n_folders += 1
        if self._n_files > self._max_files:
            raise TooManyFiles
        if self._n_folders % _CHECK_EVERY == 0:
            self._patience.check(self._n_files)


def _as_named(folder: str, root: str) -> str:
    """A folder without links as the walk comes by it, which begins at `root`."""
    real = os.path.realpath(root)
    return root + folder[len(real) :] if folder.startswith(f"{real}/") else folder


def _rules_changed(names: set[str], touched: set[str], known: Folder) -> bool:
    """Whether a folder's ignore file, or its being a repository, is not as it was."""
    if _IGNORE_FILE in touched or (_IGNORE_FILE in known.keys and _IGNORE_FILE not in names):
        return True
    return (".git" in names) != (".git" in known.skipped)


def _outer_rules_stamp(root: Path) -> str:
    """What tells whether the ignore files outside of the work dir's folders changed."""
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
