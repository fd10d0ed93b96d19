"""Capture of snapshots: detects changes in the working directory and records them with their author."""

import contextlib
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from kimi_tui.base.gc_control import gc_paused
from kimi_tui.base.message_text import as_message, msg
from kimi_tui.history.snapshots.attributes.known_attributes import KnownAttributes
from kimi_tui.history.snapshots.attribution import COVERAGE, USER, ChangeAuthor
from kimi_tui.history.snapshots.change_detection import (
    DetectedChanges,
    detect_from_scan,
    detect_in_paths,
    update_cache,
)
from kimi_tui.history.snapshots.coverage_rules import CoverageRules, IgnoredPaths
from kimi_tui.history.snapshots.deadline import DeadlineExceeded, ScanDeadline
from kimi_tui.history.snapshots.entry import Changes, Entries, Entry, absolute_path, apply_changes, parents_of
from kimi_tui.history.snapshots.known_paths import KnownPaths
from kimi_tui.history.snapshots.limits import DEFAULT_LIMITS, SnapshotLimits
from kimi_tui.history.snapshots.manifest import ManifestMissing
from kimi_tui.history.snapshots.open_calls import InterruptedCall
from kimi_tui.history.snapshots.other_names import add_other_names
from kimi_tui.history.snapshots.path_scanner import PathScanner
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.history.snapshots.rename_detection import NO_RENAMES, Renames, find_renames, select_renames
from kimi_tui.history.snapshots.scanner import Scan, Scanner, TooManyFiles
from kimi_tui.history.snapshots.stat_cache import (
    StatCache,
    StatKey,
    WrittenFile,
    inode_of,
    load_stat_cache,
    modification_key,
    save_stat_cache,
)

_GC_FREEZE_FILES = 5000
"""Above this number of files, the objects are excluded from garbage collection."""


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """A recorded state."""

    manifest: str
    changes: Changes
    """Since the previous state; empty for the first one."""
    before: dict[str, Entry | None] = field(default_factory=dict)
    """Previous entries of the changed paths."""
    stat_keys: Mapping[str, StatKey] = field(default_factory=dict)
    """Keys of the requested paths, to detect later changes; an empty key for a missing path."""

    def is_folder(self, path: str) -> bool:
        """Return whether a changed path neither was nor is a file: only directories, or nothing."""
        states = self.changes.get(path), self.before.get(path)
        return all(entry is None or entry.kind == "folder" for entry in states)


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
        self._entries: dict[str, Entry] = {}
        self._head: str | None = None
        self.attributes = KnownAttributes({})
        """The unusual attributes of files and directories."""
        self._known_paths = KnownPaths()
        self._strays: set[str] | None = None
        """Covered paths that a scan doesn't reach: a tool named them, or they have become ignored since they
        were stored. None before a scan.
        """
        self._stray_keys: dict[str, StatKey] = {}
        self._unreadable: dict[str, str] = {}
        self.partial_coverage_reason = _partial_coverage_reason(store.work_dir)
        """Why files that are neither stored nor named by tools aren't covered; empty if all files are."""
        self._next_scan = float("inf") if self.partial_coverage_reason else 0.0
        """Monotonic time from which the next full scan is tried."""
        self._is_slow = False
        """Whether coverage is partial because scans take too long."""
        self._coverage_change = ""
        """The reason for partial coverage that began or ended, until it is recorded."""
        self._renames: Renames = NO_RENAMES
        """The renames that the current revert made."""
        self._likely_renames: Renames = NO_RENAMES
        """The renames that the author of the current changes probably made."""
        self._old_inodes: dict[str, int] = {}
        """Inodes of the paths that the last scan found changed, before and after."""
        self._new_inodes: dict[str, int] = {}

    @property
    def head(self) -> str | None:
        """The manifest id of the newest state."""
        return self._head

    @property
    def entries(self) -> Entries:
        """The entries of the newest state."""
        return self._entries

    @property
    def scan_limit_s(self) -> float:
        """Time limit of the next full scan, in seconds."""
        return self._limits.first_scan_s if self._strays is None else self._limits.scan_s

    @property
    def not_covered(self) -> dict[str, str]:
        """The paths that are not covered, and why."""
        omitted = {path: entry.ref for path, entry in self._entries.items() if entry.kind == "omitted"}
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
        """Continue from the session's last state, or its state `earlier`, or the project's last state.

        With `lazily`, the project's last state isn't loaded before the first scan.
        """
        with gc_paused(should_freeze=lambda: len(self._entries) > _GC_FREEZE_FILES):
            self._load_state(earlier, lazily=lazily)

    def _load_state(self, earlier: str | None, *, lazily: bool) -> None:
        own = self._store.manifests.newest(self._store.session)
        if self._load_first(own, earlier):
            self._known_paths.load(self._store.manifests, self._head)
        elif lazily:
            self._known_paths.is_complete = False
        if (
            self._known_paths.is_complete
            and (saved := load_stat_cache(self._store.stat_cache_file)) is not None
        ):
            if self._head is None:
                self._load_first(saved[1])
            self._stat_cache = saved[0]
            self._invalidate_differences(saved[1])

    def _load_first(self, *manifests: str | None) -> bool:
        """Continue from the first of these states that is stored. Return whether there is one."""
        for manifest in manifests:
            if manifest is not None:
                with contextlib.suppress(ManifestMissing):
                    self._entries = self._store.manifests.entries(manifest)
                    self.attributes = KnownAttributes(self._store.manifests.attributes(manifest))
                    self._head = manifest
                    return True
        return False

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
        """Record the changes since the newest state, if there are any or if `always`.

        With `paths`, only these and their parent directories are scanned, unless there is no state yet. Files
        in `written` that are unchanged since aren't read again. If a path in `planned` has another entry, the
        author made the planned one, and the user has changed it since. `renames` are those of a revert;
        for other authors, they are detected. With `interrupted`, a full scan
        attributes changes before its end to that call, and later ones to the user or a program that it left.
        Raises ScanCanceled if `deadline` is canceled, and TooManyFiles if there are more than `max_files`.
        After a scan that took too long, only files named by tools are covered.
        """
        if paths is not None and (
            self._head is not None or not self._known_paths.is_complete or self.partial_coverage_reason
        ):
            paths = add_other_names(self._root, paths, self._entries)
            detected = detect_in_paths(
                self._root,
                paths,
                entries=self._entries,
                blobs=self._store.blobs,
                limits=self._limits,
                known_entry=partial(self._known_entry, written),
            )
            if not author.is_tool:
                self._attribute_unseen(detected)
            if self._strays is not None:
                self._strays |= {path for path in (*paths, *detected.changes) if self._key(path) is None}
            self._known_paths.add(paths, detected)
            later = _separate_later_changes(detected, planned, renames)
            self._renames = renames
            result = self._record(author, None, detected, always=always)
            self._renames = NO_RENAMES
            if later:
                self._record(USER, None, replace(detected, changes=later, coverage={}), always=False)
            return result
        n_read = 0
        with gc_paused(should_freeze=lambda: n_read > _GC_FREEZE_FILES):
            scan, detected = self._detect_all(deadline or ScanDeadline(), max_files)
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

        Never scans other paths: a path that no state lists yet counts as unchanged so far, unless
        `author` is a tool. Ignored paths are skipped unless they are known. `renames` are those that the
        author probably made. Raises ScanCanceled.
        """
        deadline = deadline or ScanDeadline()
        if self._head is None and not self.partial_coverage_reason:
            self._known_paths.is_complete = False
        scan = PathScanner(
            str(self._root),
            entries=self._entries,
            ignored=IgnoredPaths(_build_rules(self._root, self._added_dirs, self._limits)),
            known_key=self._key,
            deadline=deadline,
        ).run(paths)
        detected = detect_from_scan(
            self._root,
            scan,
            entries=self._entries,
            blobs=self._store.blobs,
            limits=self._limits,
            deadline=deadline,
        )
        if not author.is_tool:
            self._attribute_unseen(detected)
        if self._strays is not None:
            self._strays |= {path for path in detected.changes if self._key(path) is None}
        self._known_paths.add(paths, detected)
        self._likely_renames = renames
        try:
            return self._record(author, None, detected, always=always or self._head is None)
        finally:
            self._likely_renames = NO_RENAMES

    def save(self) -> None:
        """Save the stat cache for the next session."""
        if not self._known_paths.is_complete:
            return
        if self._head is not None and self._strays is not None and not self.partial_coverage_reason:
            save_stat_cache(self._store.fs, self._store.stat_cache_file, self._stat_cache, self._head)

    def _detect_all(
        self, deadline: ScanDeadline, max_files: int | None
    ) -> tuple[Scan | None, DetectedChanges]:
        if time.monotonic() >= self._next_scan:
            try:
                scan, detected = self._detect_with_scan(deadline, max_files or self._limits.files)
            except TooManyFiles:
                if max_files is not None:
                    raise
                self._limit_coverage(
                    msg("the working directory contains more than {count:,} files", count=self._limits.files)
                )
            except DeadlineExceeded as error:
                self._limit_coverage(
                    msg("a scan of the working directory takes longer than {limit}", limit=error)
                )
                self._is_slow = True
                self._strays = self._strays or set()
            else:
                self._resume_coverage(detected)
                return scan, detected
        return None, self._detect_strays(self._known_strays(), DetectedChanges())

    def _limit_coverage(self, reason: str) -> None:
        """Cover only known files, and try a full scan again later."""
        if not self.partial_coverage_reason:
            self._coverage_change = reason
        self.partial_coverage_reason = reason
        self._next_scan = time.monotonic() + self._limits.retry_scan_s

    def _resume_coverage(self, detected: DetectedChanges) -> None:
        """Cover all files again. The authors of files that are new since then are unknown."""
        if not self.partial_coverage_reason:
            return
        self._coverage_change, self.partial_coverage_reason = self.partial_coverage_reason, ""
        self._is_slow = False
        for path in [path for path in detected.changes if path not in self._entries]:
            detected.coverage[path] = detected.changes.pop(path)

    def _known_strays(self) -> set[str]:
        """Return the paths to look at without a full scan."""
        return set(self._strays or ()) if self._is_slow else set(self._entries)

    def _detect_with_scan(self, deadline: ScanDeadline, max_files: int) -> tuple[Scan, DetectedChanges]:
        base: dict[str, Entry] = {}
        if not self._known_paths.is_complete:
            base, self._stat_cache = self._known_paths.load_base(self._store)
        scanner = Scanner(
            self._root,
            self._stat_cache,
            max_files=max_files,
            rules=_build_rules(self._root, self._added_dirs, self._limits),
            added_dirs=self._added_dirs,
            deadline=deadline,
        )
        scan = scanner.run()
        detected = detect_from_scan(
            self._root,
            scan,
            entries={**base, **self._entries} if base else self._entries,
            blobs=self._store.blobs,
            limits=self._limits,
            deadline=deadline,
        )
        self._unreadable = scan.unreadable
        if not self._known_paths.is_complete:
            self._known_paths.attribute_found(base, self._entries, scan, detected)
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
        self._old_inodes, self._new_inodes = {}, {}
        if scan is not None:
            self._old_inodes, self._new_inodes = _changed_inodes(self._stat_cache, scan, detected)
            scan.apply_to(self._stat_cache)
            update_cache(self._stat_cache, detected)
            candidates = self._entries.keys() if self._strays is None else self._strays
            self._strays = {
                path
                for path in (*candidates, *(path for path in scan.newly_ignored if path in self._entries))
                if self._key(path) is None and path not in detected.changes and not self._is_unreadable(path)
            }
            self._detect_strays(self._strays, detected)
        else:
            update_cache(self._stat_cache, detected)
            if self._strays is None and self.partial_coverage_reason:
                self._strays = {path for path, entry in detected.changes.items() if entry is not None}
        try:
            if interrupted is not None:
                return self._append_interrupted(interrupted, detected)
            return self._append_changes(author, detected, always=always)
        except OSError:
            # Without a cache, the next capture detects the same changes again.
            self._stat_cache, self._strays = StatCache(), None
            raise

    def _append_changes(
        self, author: ChangeAuthor, detected: DetectedChanges, *, always: bool
    ) -> CaptureResult:
        is_complete = self._known_paths.is_complete or detected.is_complete
        if detected.coverage or self._coverage_change or is_complete != self._known_paths.is_complete:
            nobody = replace(COVERAGE, command=self._coverage_change)
            self._head = self._append_manifest(nobody, detected.coverage, is_complete=is_complete)
            self._coverage_change = ""
        if self._head is None:
            self._head = self._append_manifest(author, detected.changes)
            return CaptureResult(self._head, {}, stat_keys=detected.stat_keys)
        before = {path: self._entries.get(path) for path in detected.changes}
        if detected.changes or always:
            self._head = self._append_manifest(author, detected.changes)
        return CaptureResult(self._head, detected.changes, before, detected.stat_keys)

    def _append_interrupted(self, call: InterruptedCall, detected: DetectedChanges) -> CaptureResult:
        """Record changes of which some were made by a call whose process was killed."""
        known = {path for path in detected.changes if self._changed_at(path) <= call.ended}
        during = {path: entry for path, entry in detected.changes.items() if path in known}
        if self._head is not None and during:
            first = self._append_changes(call.author, replace(detected, changes=during), always=True)
            rest = {path: entry for path, entry in detected.changes.items() if path not in known}
            later = replace(detected, changes=rest, coverage={})
            then = self._append_changes(replace(call.author, who="background"), later, always=False)
            return replace(then, changes=detected.changes, before={**first.before, **then.before})
        return self._append_changes(replace(call.author, who="background"), detected, always=False)

    def _changed_at(self, path: str) -> float:
        """Return when a path was last changed, in seconds since the epoch.

        For a missing path, this is when its nearest parent directory was changed.
        """
        for each in (path, *parents_of(path), ""):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                info = os.lstat(absolute_path(self._root, each))
                return max(info.st_mtime, info.st_ctime)
        return float("inf")

    def _append_manifest(
        self, author: ChangeAuthor, changes: Changes, *, is_complete: bool | None = None
    ) -> str:
        is_complete = self._known_paths.is_complete if is_complete is None else is_complete
        renames: dict[str, str] = {}
        if author.who == "revert":  # it knows them; equal contents may be a copy that it removes
            renames = select_renames(self._renames, self._entries, changes)
        elif self._head is not None and author.who != "coverage":
            renames = find_renames(
                self._entries,
                changes,
                self._store.blobs,
                likely=self._likely_renames,
                old_inodes=self._old_inodes,
                new_inodes=self._new_inodes,
            )
        entries = dict(self._entries)
        apply_changes(changes, entries)
        head = self._store.manifests.append(
            self._head,
            author,
            changes,
            entries,
            is_complete=is_complete,
            renames=renames,
            changed_attributes=self.attributes.changed,
            attributes=self.attributes.current,
        )
        self._entries = entries
        self.attributes.changed = {}
        if is_complete:
            self._known_paths.complete()
        return head

    def _detect_strays(self, strays: set[str], detected: DetectedChanges) -> DetectedChanges:
        if strays:
            more = detect_in_paths(
                self._root,
                strays,
                entries=self._entries,
                blobs=self._store.blobs,
                limits=self._limits,
                known_entry=self._known_stray,
            )
            detected.changes |= {path: entry for path, entry in more.changes.items() if path in strays}
            self._stray_keys = {path: more.keys[path] for path in strays}
        return detected

    def _key(self, path: str) -> StatKey | None:
        return self._stat_cache.key(path)

    def _known_entry(self, written: Mapping[str, WrittenFile], path: str, key: StatKey) -> Entry | None:
        """Return the entry of a file that has the stat key `key`, if it is known."""
        if (file := written.get(path)) is not None and file.key == modification_key(key):
            return file.entry
        return self._entries.get(path) if self._key(path) == key else None

    def _known_stray(self, path: str, key: StatKey) -> Entry | None:
        """Return the entry of a path in `_strays` that has the stat key `key`, if it is known."""
        return self._entries.get(path) if key in (self._stray_keys.get(path), self._key(path)) else None

    def _attribute_unseen(self, detected: DetectedChanges) -> None:
        """Record existing files that no scan has reached as covered, not as changed."""
        for path in [path for path in detected.changes if path not in self._entries]:
            is_known = self._known_paths.contains(path) and not self._is_ignored(path)
            if self.partial_coverage_reason or not is_known:
                detected.coverage[path] = detected.changes.pop(path)

    def _is_ignored(self, path: str) -> bool:
        """Return whether the last scan skipped `path` or a directory above it, or `path` is elsewhere."""
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
        if manifest == self._head:
            return
        try:
            cached_entries = self._store.manifests.entries(manifest)
        except ManifestMissing:
            self._stat_cache = StatCache()
            return
        for path in {*cached_entries, *self._entries}:
            if cached_entries.get(path) != self._entries.get(path):
                self._stat_cache.invalidate(path)


def _changed_inodes(
    cache: StatCache, scan: Scan, detected: DetectedChanges
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the inodes of changed files before `scan`, and those after it, if they are known."""
    old = {path: inode_of(key) for path in detected.changes if (key := cache.key(path))}
    new: dict[str, int] = {}
    for path, entry in detected.changes.items():
        folder, _, name = path.rpartition("/")
        if entry is not None and (found := scan.folders.get(folder)) is not None and found.keys.get(name):
            new[path] = inode_of(found.keys[name])
    return _without_zeros(old), _without_zeros(new)


def _without_zeros(inodes: Mapping[str, int]) -> dict[str, int]:
    return {path: inode for path, inode in inodes.items() if inode}


def _separate_later_changes(
    detected: DetectedChanges, planned: Changes, renames: Renames
) -> dict[str, Entry | None]:
    """Reduce the changes to those of a revert. Return the changes that someone made after them.

    A revert changes the planned paths, and creates the directories that it needs.
    """
    own = {*planned, *renames, *renames.values()} if planned else {*detected.changes}
    later = {
        path: entry
        for path, entry in detected.changes.items()
        if (path in planned and planned[path] != entry)
        or (path not in own and (entry is None or entry.kind != "folder"))
    }
    for path in later:
        if path in planned:
            detected.changes[path] = planned[path]
        else:
            del detected.changes[path]
    return later


def _partial_coverage_reason(work_dir: Path) -> str:
    real = os.path.realpath(work_dir)
    if real == os.path.realpath(Path.home()):
        return "the working directory is your home directory"
    return "the working directory is the root of the file system" if real == os.sep else ""


def _build_rules(root: Path, added_dirs: Sequence[str], limits: SnapshotLimits) -> CoverageRules:
    return CoverageRules(root, added_dirs=added_dirs, exclude=limits.exclude, own_dir=limits.own)
