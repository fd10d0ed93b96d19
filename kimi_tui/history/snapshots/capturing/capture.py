"""Capture of snapshots: detects changes in the working directory and records them with their author."""

import os
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType

from kimi_tui.base.gc_control import gc_paused
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.history.snapshots.attributes.known_attributes import KnownAttributes
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.capturing.capture_result import CaptureResult
from kimi_tui.history.snapshots.capturing.change_watcher import ChangeWatcher
from kimi_tui.history.snapshots.capturing.known_paths import KnownPaths
from kimi_tui.history.snapshots.capturing.other_names import find_other_names
from kimi_tui.history.snapshots.capturing.partial_coverage import PartialCoverage
from kimi_tui.history.snapshots.capturing.path_scanner import PathScanner
from kimi_tui.history.snapshots.capturing.state_recorder import StateRecorder
from kimi_tui.history.snapshots.change_detection import (
    DetectedChanges,
    detect_from_scan,
    detect_in_paths,
    update_cache,
)
from kimi_tui.history.snapshots.coverage_rules import CoverageRules, IgnoredPaths
from kimi_tui.history.snapshots.deadline import DeadlineExceeded, ScanDeadline
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry, absolute_path, parents_of
from kimi_tui.history.snapshots.limits import DEFAULT_LIMITS, SnapshotLimits
from kimi_tui.history.snapshots.manifest import ManifestMissing
from kimi_tui.history.snapshots.open_calls import InterruptedCall
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.history.snapshots.rename_detection import NO_RENAMES, Renames
from kimi_tui.history.snapshots.scanner import Scan, Scanner, TooManyFiles
from kimi_tui.history.snapshots.stat_cache import (
    StatCache,
    StatKey,
    WrittenFile,
    load_stat_cache,
    modification_key,
    save_stat_cache,
)

_GC_FREEZE_FILES = 5000
"""Above this number of files, the objects are excluded from garbage collection."""


class Capture:
    """Records the states of one working directory for one session.

    The methods block and must be called one at a time. Each may raise OSError. In that case nothing is
    recorded, and the next call detects the same changes again.
    """

    def __init__(
        self, store: ProjectStore, *, limits: SnapshotLimits = DEFAULT_LIMITS, added_dirs: Sequence[str] = ()
    ) -> None:
        self._added_dirs = added_dirs
        """Covered directories besides the working directory: absolute, without links, none inside another."""
        self._store = store
        self._root = store.work_dir
        self._limits = limits
        self._stat_cache = StatCache()
        self._known_paths = KnownPaths()
        self._strays: set[str] | None = None
        """Covered paths that a scan doesn't reach; None before the first scan.

        A tool named these paths, or they have become ignored since they were stored.
        """
        self._stray_keys: dict[str, StatKey] = {}
        self._unreadable: dict[str, str] = {}
        self._coverage = PartialCoverage(store.work_dir, retry_s=limits.retry_scan_s)
        self._states = StateRecorder(store, self._known_paths, self._coverage)
        self._keeps_unpacked = False
        self._watcher = ChangeWatcher([absolute_path(store.work_dir, start) for start in ("", *added_dirs)])

    @property
    def partial_coverage_reason(self) -> str:
        """Why files that are neither stored nor named by tools aren't covered; empty if all files are."""
        return self._coverage.reason

    @property
    def attributes(self) -> KnownAttributes:
        """The unusual attributes of files and directories."""
        return self._states.attributes

    @property
    def head(self) -> str | None:
        """The manifest id of the newest state."""
        return self._states.head

    @property
    def entries(self) -> Entries:
        """The entries of the newest state."""
        return self._states.entries

    @property
    def scan_limit_s(self) -> float:
        """Time limit of the next full scan, in seconds."""
        return self._limits.first_scan_s if self._strays is None else self._limits.scan_s

    @property
    def not_covered(self) -> dict[str, str]:
        """The paths that are not covered, and why."""
        omitted = {path: entry.ref for path, entry in self._states.entries.items() if entry.kind == "omitted"}
        return omitted | {
            path or ".": msg("directory: {reason}", reason=as_message(why))
            for path, why in self._unreadable.items()
        }

    def holds_uncovered(self, folder: str) -> bool:
        """Return whether a directory directly contains ignored files, which are not covered."""
        cached = self._stat_cache.folders.get(folder)
        full_path = absolute_path(self._root, folder)
        return cached is not None and any(os.path.lexists(f"{full_path}/{name}") for name in cached.skipped)

    def open(self, earlier: str | None = None, *, lazily: bool = False) -> None:
        """Continue from the session's last state; without one, from `earlier` or the project's last state.

        With `lazily`, the project's last state isn't loaded before the first scan.
        """
        with gc_paused(should_freeze=lambda: len(self._states.entries) > _GC_FREEZE_FILES):
            self._load_state(earlier, lazily=lazily)

    def _load_state(self, earlier: str | None, *, lazily: bool) -> None:
        own = self._store.manifests.newest(self._store.session)
        if self._states.load_first(own, earlier):
            self._known_paths.load(self._store.manifests, self._states.head)
        elif lazily:
            self._known_paths.is_complete = False
        if (
            self._known_paths.is_complete
            and (saved := load_stat_cache(self._store.stat_cache_file)) is not None
        ):
            if self._states.head is None:
                self._states.load_first(saved[1])
            self._stat_cache = saved[0]
            self._invalidate_differences(saved[1])

    def capture(
        self,
        author: ChangeAuthor = USER,
        *,
        paths: Iterable[str] | None = None,
        written: Mapping[str, WrittenFile] = MappingProxyType({}),
        planned: Changes = MappingProxyType({}),
        renames: Renames = NO_RENAMES,
        always: bool = False,
        interrupted: InterruptedCall | None = None,
        max_files: int | None = None,
        deadline: ScanDeadline | None = None,
    ) -> CaptureResult:
        """Record the changes since the newest state. If nothing changed, record a state only if `always`.

        With `paths`, only these paths and their parent directories are read, unless there is no state yet.
        Files in `written` aren't read again if they are unchanged. If a path in `planned` has another entry,
        the planned entry is attributed to the author, and the later change to the user. `renames` are those
        of a revert; for other authors, renames are detected.

        Otherwise, the whole working directory is scanned. With `interrupted`, changes before the end of that
        call are attributed to the call, and later changes to the user or a program that it left running. In a
        large project, the scan is skipped if the system has reported no changes, unless `author` is a tool.
        After a scan that took too long, only files named by tools are covered.

        Raises ScanCanceled if `deadline` is canceled, TooManyFiles if there are more than `max_files` files.
        """
        if paths is not None and (
            self._states.head is not None or not self._known_paths.is_complete or self.partial_coverage_reason
        ):
            paths, known_entry = set(paths), partial(self._known_entry, written)
            detected = self._detect_in_paths(paths, known_entry)
            if others := find_other_names(self._root, paths, detected.hard_links, self._states.entries):
                paths |= others
                detected = self._detect_in_paths(paths, known_entry)
            if not author.is_tool:
                self._attribute_unseen(detected)
            if self._strays is not None:
                self._strays |= {path for path in {*paths, *detected.changes} if self._key(path) is None}
            self._known_paths.add(paths, detected)
            later = _separate_later_changes(detected, planned, renames)
            self._states.renames = renames
            result = self._record(author, None, detected, always=always)
            self._states.renames = NO_RENAMES
            if later:
                self._record(USER, None, replace(detected, changes=later, coverage={}), always=False)
            return result
        n_read = 0
        with gc_paused(should_freeze=lambda: n_read > _GC_FREEZE_FILES):
            may_skip = not author.is_tool and interrupted is None
            scan, detected = self._detect_all(deadline or ScanDeadline(), max_files, may_skip=may_skip)
            n_read = detected.n_read
            return self._record(author, scan, detected, always=always, interrupted=interrupted)

    def capture_paths(
        self,
        author: ChangeAuthor,
        paths: Collection[str],
        *,
        renames: Renames = NO_RENAMES,
        always: bool = False,
        deadline: ScanDeadline | None = None,
    ) -> CaptureResult:
        """Record the changes of `paths` only.

        Never scans other paths. If no state lists a path yet, it is recorded as covered, not as changed,
        unless `author` is a tool. Ignored paths are skipped unless they are known. `renames` are renames that
        the author probably made. Raises ScanCanceled.
        """
        deadline = deadline or ScanDeadline()
        if self._states.head is None and not self.partial_coverage_reason:
            self._known_paths.is_complete = False
        scan = PathScanner(
            str(self._root),
            entries=self._states.entries,
            ignored=IgnoredPaths(self._build_rules()),
            known_key=self._key,
            deadline=deadline,
        ).run(paths)
        detected = detect_from_scan(
            self._root,
            scan,
            entries=self._states.entries,
            blobs=self._store.blobs,
            limits=self._limits,
            deadline=deadline,
        )
        if not author.is_tool:
            self._attribute_unseen(detected)
        if self._strays is not None:
            self._strays |= {path for path in detected.changes if self._key(path) is None}
        self._known_paths.add(paths, detected)
        self._states.likely_renames = renames
        try:
            return self._record(author, None, detected, always=always or self._states.head is None)
        finally:
            self._states.likely_renames = NO_RENAMES

    @contextmanager
    def keeping_unpacked(self) -> Iterator[None]:
        """Pack the stat data only at the end of the block. Meant for several captures of the same paths."""
        self._keeps_unpacked = True
        try:
            yield
        finally:
            self._keeps_unpacked = False
            self._stat_cache.pack()

    def close(self) -> None:
        """Save the stat cache for the next session. Raises OSError."""
        self._watcher.close()
        if not self._known_paths.is_complete:
            return
        if self._states.head is not None and self._strays is not None and not self.partial_coverage_reason:
            save_stat_cache(self._store.fs, self._store.stat_cache_file, self._stat_cache, self._states.head)

    def _detect_all(
        self, deadline: ScanDeadline, max_files: int | None, *, may_skip: bool
    ) -> tuple[Scan | None, DetectedChanges]:
        if may_skip and self._is_quiet():
            return None, self._detect_strays(set(self._strays or ()), DetectedChanges())
        if self._coverage.may_scan:
            try:
                scan, detected = self._detect_with_scan(deadline, max_files or self._limits.files)
            except TooManyFiles:
                if max_files is not None:
                    raise
                self._coverage.limit(
                    msg("the working directory contains more than {count:,} files", count=self._limits.files)
                )
            except DeadlineExceeded as error:
                self._coverage.limit(
                    msg("a scan of the working directory takes longer than {limit}", limit=error),
                    is_slow=True,
                )
                self._strays = self._strays or set()
            else:
                if self.partial_coverage_reason:
                    self._strays = None  # any file that isn't cached may have been removed since
                self._coverage.resume(detected, self._states.entries)
                return scan, detected
        return None, self._detect_strays(self._known_strays(), DetectedChanges())

    def _is_quiet(self) -> bool:
        """Return whether a scan would find nothing, except changes of `_strays`."""
        return (
            self._watcher.is_quiet()
            and self._strays is not None
            and self._known_paths.is_complete
            and not self.partial_coverage_reason
            and not self.attributes.has_hard_links  # a change through a name elsewhere isn't reported
            and self._build_rules().stamp == self._stat_cache.rules
        )

    def _known_strays(self) -> set[str]:
        """Return the paths to look at without a full scan."""
        return set(self._strays or ()) if self._coverage.is_slow else set(self._states.entries)

    def _detect_with_scan(self, deadline: ScanDeadline, max_files: int) -> tuple[Scan, DetectedChanges]:
        base: dict[str, Entry] = {}
        if not self._known_paths.is_complete:
            base, self._stat_cache = self._known_paths.load_base(self._store)
        is_watched = len(self._states.entries) >= self._limits.watched_files
        if is_watched:
            self._watcher.begin_scan()
        scanner = Scanner(
            self._root,
            self._stat_cache,
            max_files=max_files,
            rules=self._build_rules(),
            added_dirs=self._added_dirs,
            deadline=deadline,
            watcher=self._watcher,
        )
        scan = scanner.run()
        detected = detect_from_scan(
            self._root,
            scan,
            entries=ChainMap(self._states.entries, base) if base else self._states.entries,
            blobs=self._store.blobs,
            limits=self._limits,
            deadline=deadline,
        )
        self._unreadable = scan.unreadable
        if is_watched and not detected.is_deferred:
            self._watcher.finish_scan()
        if not self._known_paths.is_complete:
            self._known_paths.attribute_found(base, self._states.entries, scan, detected)
        return scan, detected

    def _record(
        self,
        author: ChangeAuthor,
        scan: Scan | None,
        detected: DetectedChanges,
        *,
        always: bool,
        interrupted: InterruptedCall | None = None,
    ) -> CaptureResult:
        self.attributes.note(detected.attributes)
        self._states.note_inodes(self._stat_cache, scan, detected)
        if scan is not None:
            scan.apply_to(self._stat_cache)
            update_cache(self._stat_cache, detected)
            candidates = self._states.entries.keys() if self._strays is None else self._strays
            ignored = (path for path in scan.newly_ignored if path in self._states.entries)
            self._strays = {
                path
                for path in self._stat_cache.without_key(chain(candidates, ignored))
                if path not in detected.changes and not self._is_unreadable(path)
            }
            self._detect_strays(self._strays, detected)
        else:
            update_cache(self._stat_cache, detected)
            if self._strays is None and self.partial_coverage_reason:
                self._strays = {path for path, entry in detected.changes.items() if entry is not None}
        try:
            if interrupted is not None:
                return self._states.append_interrupted(interrupted, detected)
            return self._states.append_changes(author, detected, always=always)
        except OSError:
            # Without a cache, the next capture detects the same changes again.
            self._stat_cache, self._strays = StatCache(), None
            raise
        finally:
            if not self._keeps_unpacked:
                self._stat_cache.pack()

    def _detect_in_paths(
        self, paths: Collection[str], known_entry: Callable[[str, StatKey], Entry | None]
    ) -> DetectedChanges:
        return detect_in_paths(
            self._root,
            paths,
            entries=self._states.entries,
            blobs=self._store.blobs,
            limits=self._limits,
            known_entry=known_entry,
        )

    def _detect_strays(self, strays: set[str], detected: DetectedChanges) -> DetectedChanges:
        if strays:
            more = self._detect_in_paths(strays, self._known_stray)
            detected.changes |= {path: entry for path, entry in more.changes.items() if path in strays}
            self._stray_keys = {path: more.keys[path] for path in strays}
        return detected

    def _build_rules(self) -> CoverageRules:
        limits = self._limits
        return CoverageRules(
            self._root, added_dirs=self._added_dirs, exclude=limits.exclude, own_dir=limits.own
        )

    def _key(self, path: str) -> StatKey | None:
        return self._stat_cache.key(path)

    def _known_entry(self, written: Mapping[str, WrittenFile], path: str, key: StatKey) -> Entry | None:
        """Return the entry of a file that has the stat key `key`, if it is known."""
        if (file := written.get(path)) is not None and file.key == modification_key(key):
            return file.entry
        return self._states.entries.get(path) if self._key(path) == key else None

    def _known_stray(self, path: str, key: StatKey) -> Entry | None:
        """Return the entry of a path in `_strays` that has the stat key `key`, if it is known."""
        return (
            self._states.entries.get(path) if key in (self._stray_keys.get(path), self._key(path)) else None
        )

    def _attribute_unseen(self, detected: DetectedChanges) -> None:
        """Record existing files that no scan has reached as covered, not as changed."""
        for path in [path for path in detected.changes if path not in self._states.entries]:
            is_known = self._known_paths.contains(path) and not self._is_ignored(path)
            if self.partial_coverage_reason or not is_known:
                detected.coverage[path] = detected.changes.pop(path)

    def _is_ignored(self, path: str) -> bool:
        """Return whether the last scan skipped `path` or a parent, or `path` is in no covered directory."""
        if path.startswith("/") and path.partition("//")[0] not in self._added_dirs:
            return True
        for each in (path, *parents_of(path)):
            folder, _, name = each.rpartition("/")
            if (cached := self._stat_cache.folders.get(folder)) is not None and name in cached.skipped:
                return True
        return False

    def _is_unreadable(self, path: str) -> bool:
        """Return whether a path is in an unreadable directory, so that its last known entry stays valid."""
        return any(path == folder or path.startswith(f"{folder}/") for folder in self._unreadable)

    def _invalidate_differences(self, manifest: str) -> None:
        """Invalidate cached paths that differ between the newest state and the cache's state `manifest`."""
        if manifest == self._states.head:
            return
        try:
            cached_entries = self._store.manifests.entries(manifest)
        except ManifestMissing:
            self._stat_cache = StatCache()
            return
        for path in {*cached_entries, *self._states.entries}:
            if cached_entries.get(path) != self._states.entries.get(path):
                self._stat_cache.invalidate(path)


def _separate_later_changes(
    detected: DetectedChanges, planned: Changes, renames: Renames
) -> dict[str, Entry | None]:
    """Keep only the changes of a revert in `detected`. Return the changes that someone made afterwards.

    A revert changes the planned paths, and creates the directories that it needs.
    """
    own = {*planned, *renames, *renames.values()} if planned else {*detected.changes}
    created = _created_again(planned)
    later = {
        path: entry
        for path, entry in detected.changes.items()
        if (path in planned and planned[path] != entry and not (path in created and _is_folder(entry)))
        or (path not in own and not _is_folder(entry))
    }
    for path in later:
        if path in planned:
            detected.changes[path] = planned[path]
        else:
            del detected.changes[path]
    return later


def _created_again(planned: Changes) -> set[str]:
    """Return the paths of files that a revert replaces with directories."""
    removed = {path for path, entry in planned.items() if entry is None}
    if not removed:
        return set()
    return removed & {parent for path in planned.keys() - removed for parent in parents_of(path)}


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"
