"""Path scanner: looks at single paths of the working directory instead of walking the whole directory."""

import os
import stat
from collections.abc import Callable, Collection

from kimi_tui.history.snapshots.coverage_rules import IgnoredPaths
from kimi_tui.history.snapshots.deadline import ScanDeadline
from kimi_tui.history.snapshots.entry import Entries, Entry, absolute_path, parents_of
from kimi_tui.history.snapshots.scanner import Scan, entry_without_content
from kimi_tui.history.snapshots.stat_cache import StatKey, key_of, pack_key

_CHECK_EVERY = 256


class PathScanner:
    """Reports which of some paths may have changed. The time depends only on the number of these paths.

    Ignored paths are skipped unless they are known already.
    """

    def __init__(
        self,
        root: str,
        *,
        entries: Entries,
        ignored: IgnoredPaths,
        known_key: Callable[[str], StatKey | None],
        deadline: ScanDeadline,
    ) -> None:
        self._root = root
        self._entries = entries
        self._ignored = ignored
        self._known_key = known_key
        self._deadline = deadline
        self._result = Scan()
        self._gone_folders: set[str] = set()

    def run(self, paths: Collection[str]) -> Scan:
        """Look at `paths` and the directories above them. Raises ScanCanceled.

        Known paths in a directory that no longer exists are reported as missing.
        """
        todo = {*paths}
        todo |= {folder for path in paths for folder in parents_of(path)}
        for number, path in enumerate(sorted(todo)):
            if number % _CHECK_EVERY == 0:
                self._deadline.check(number, len(todo))
            self._look_at(path)
        if self._gone_folders:
            known = (path for path in self._entries if path not in todo)
            gone = self._gone_folders
            self._result.missing += [path for path in known if any(it in gone for it in parents_of(path))]
        return self._result

    def _look_at(self, path: str) -> None:
        known = self._entries.get(path)
        try:
            info = os.lstat(absolute_path(self._root, path))
        except (FileNotFoundError, NotADirectoryError):
            self._drop(path, known)
            return
        except OSError as error:
            self._result.unreadable[path] = error.strerror or "can't be read"
            return
        is_folder = stat.S_ISDIR(info.st_mode)
        if known is None and self._ignored.contains(path, is_folder=is_folder):
            return
        if not is_folder and known is not None and known.kind == "folder":
            self._gone_folders.add(path)
        key = key_of(info)
        if stat.S_ISREG(info.st_mode):
            if known is None or self._known_key(path) != key:
                self._result.files.append((path, pack_key(key)))
        elif (entry := entry_without_content(absolute_path(self._root, path), info.st_mode)) is not None:
            self._result.entries[path] = entry

    def _drop(self, path: str, known: Entry | None) -> None:
        if known is not None:
            self._result.missing.append(path)
            if known.kind == "folder":
                self._gone_folders.add(path)
