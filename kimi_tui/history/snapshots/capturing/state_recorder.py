"""Recorder of states: appends changes with their author to the log of states."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kimi_tui.history.snapshots.attributes.known_attributes import KnownAttributes
from kimi_tui.history.snapshots.attribution import COVERAGE, ChangeAuthor
from kimi_tui.history.snapshots.capturing.capture_result import CaptureResult
from kimi_tui.history.snapshots.capturing.known_paths import KnownPaths
from kimi_tui.history.snapshots.capturing.partial_coverage import PartialCoverage
from kimi_tui.history.snapshots.change_detection import DetectedChanges
from kimi_tui.history.snapshots.entry import Changes, Entry, absolute_path, apply_changes, parents_of
from kimi_tui.history.snapshots.manifest import ManifestMissing
from kimi_tui.history.snapshots.open_calls import InterruptedCall
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.history.snapshots.rename_detection import NO_RENAMES, Renames, find_renames, select_renames
from kimi_tui.history.snapshots.scanner import Scan
from kimi_tui.history.snapshots.stat_cache import StatCache, inode_of


class StateRecorder:
    """Records states for one session, and keeps the newest state. The methods may raise OSError."""

    def __init__(self, store: ProjectStore, known_paths: KnownPaths, coverage: PartialCoverage) -> None:
        self._store = store
        self._root: Path = store.work_dir
        self._known_paths = known_paths
        self._coverage = coverage
        self.head: str | None = None
        """The manifest id of the newest state."""
        self.entries: dict[str, Entry] = {}
        """The entries of the newest state."""
        self.attributes = KnownAttributes({})
        """The unusual attributes of files and directories."""
        self.renames: Renames = NO_RENAMES
        """The renames that the current revert made."""
        self.likely_renames: Renames = NO_RENAMES
        """The renames that the author of the current changes probably made."""
        self.old_inodes: dict[str, int] = {}
        """Old inodes of the paths that the last scan found changed; `new_inodes` has the new inodes."""
        self.new_inodes: dict[str, int] = {}

    def note_inodes(self, cache: StatCache, scan: Scan | None, detected: DetectedChanges) -> None:
        """Record the inodes of changed files before and after `scan`. Call this before updating `cache`."""
        self.old_inodes, self.new_inodes = {}, {}
        if scan is not None:
            self.old_inodes, self.new_inodes = _changed_inodes(cache, scan, detected)

    def load_first(self, *manifests: str | None) -> bool:
        """Continue from the first of `manifests` that is stored. Return False if none is stored."""
        for manifest in manifests:
            if manifest is not None:
                with contextlib.suppress(ManifestMissing):
                    self.entries = self._store.manifests.entries(manifest)
                    self.attributes = KnownAttributes(self._store.manifests.attributes(manifest))
                    self.head = manifest
                    return True
        return False

    def append_changes(
        self, author: ChangeAuthor, detected: DetectedChanges, *, always: bool
    ) -> CaptureResult:
        """Record changes by `author`, if there are any or if `always`."""
        is_complete = self._known_paths.is_complete or detected.is_complete
        if detected.coverage or self._coverage.change or is_complete != self._known_paths.is_complete:
            nobody = replace(COVERAGE, command=self._coverage.change)
            self.head = self._append_manifest(nobody, detected.coverage, is_complete=is_complete)
            self._coverage.change = ""
        if self.head is None:
            self.head = self._append_manifest(author, detected.changes)
            return CaptureResult(self.head, {}, stat_keys=detected.stat_keys)
        before = {path: self.entries.get(path) for path in detected.changes}
        if detected.changes or always:
            self.head = self._append_manifest(author, detected.changes)
        return CaptureResult(self.head, detected.changes, before, detected.stat_keys)

    def append_interrupted(self, call: InterruptedCall, detected: DetectedChanges) -> CaptureResult:
        """Record changes found after the process of a call was killed.

        Changes before `call.ended` are attributed to the call, later changes to a background task.
        """
        known = {path for path in detected.changes if self._changed_at(path) <= call.ended}
        during = {path: entry for path, entry in detected.changes.items() if path in known}
        if self.head is not None and during:
            first = self.append_changes(call.author, replace(detected, changes=during), always=True)
            rest = {path: entry for path, entry in detected.changes.items() if path not in known}
            later = replace(detected, changes=rest, coverage={})
            then = self.append_changes(replace(call.author, who="background"), later, always=False)
            return replace(then, changes=detected.changes, before={**first.before, **then.before})
        return self.append_changes(replace(call.author, who="background"), detected, always=False)

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
        if author.who == "revert":  # a revert knows its renames; an equal file may be a copy that it removes
            renames = select_renames(self.renames, self.entries, changes)
        elif self.head is not None and author.who != "coverage":
            renames = find_renames(
                self.entries,
                changes,
                self._store.blobs,
                likely=self.likely_renames,
                old_inodes=self.old_inodes,
                new_inodes=self.new_inodes,
            )
        head = self._store.manifests.append(
            self.head,
            author,
            changes,
            self.entries,
            is_complete=is_complete,
            renames=renames,
            changed_attributes=self.attributes.changed,
            attributes=self.attributes.current,
        )
        apply_changes(changes, self.entries)  # not to a copy: a state may have 100,000 entries
        self.attributes.changed = {}
        if is_complete:
            self._known_paths.complete()
        return head


def _changed_inodes(
    cache: StatCache, scan: Scan, detected: DetectedChanges
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the known inodes of changed files before and after `scan`."""
    old = {path: inode_of(key) for path in detected.changes if (key := cache.key(path))}
    if not old:
        return {}, {}
    new: dict[str, int] = {}
    for path, entry in detected.changes.items():
        folder, _, name = path.rpartition("/")
        if entry is not None and (found := scan.folders.get(folder)) is not None and found.keys.get(name):
            new[path] = inode_of(found.keys[name])
    return _without_zeros(old), _without_zeros(new)


def _without_zeros(inodes: Mapping[str, int]) -> dict[str, int]:
    return {path: inode for path, inode in inodes.items() if inode}
