"""The paths that a state knows about. An incomplete state lists only paths that were looked at."""

from collections.abc import Collection
from typing import cast

from kimi_tui.history.snapshots.change_detection import DetectedChanges
from kimi_tui.history.snapshots.entry import Entries, Entry, parents_of
from kimi_tui.history.snapshots.manifest import ManifestLog, ManifestMissing
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.history.snapshots.scanner import Scan
from kimi_tui.history.snapshots.stat_cache import StatCache, load_stat_cache


class KnownPaths:
    """The paths that the newest state knows about. A complete state knows about all paths."""

    def __init__(self) -> None:
        self.is_complete = True
        """Whether the newest state lists all covered files."""
        self._seen: set[str] = set()
        """The paths that an incomplete state lists, or knows not to exist."""

    def load(self, manifests: ManifestLog, head: str | None) -> None:
        """Load the paths that the state `head` knows about. Raises ManifestMissing."""
        while head is not None and not (record := manifests.read(head)).is_complete:
            self.is_complete = False
            self._seen |= record.changes.keys()
            head = record.parent

    def contains(self, path: str) -> bool:
        """Return whether the state lists `path`, or knows that it doesn't exist."""
        return self.is_complete or path in self._seen

    def add(self, paths: Collection[str], detected: DetectedChanges) -> None:
        """Add paths that were just looked at, and the directories above them."""
        if not self.is_complete:
            self._seen.update(paths)
            self._seen.update([folder for path in paths for folder in parents_of(path)])
            self._seen |= detected.changes.keys() | detected.coverage.keys()

    def complete(self) -> None:
        """Record that the newest state lists all covered files."""
        self.is_complete = True
        self._seen = set()

    def load_base(self, store: ProjectStore) -> tuple[dict[str, Entry], StatCache]:
        """Return the unknown paths of the project's last complete state, and their stat cache."""
        saved = load_stat_cache(store.stat_cache_file)
        if saved is None:
            return {}, StatCache()
        cache, manifest = saved
        try:
            entries = store.manifests.entries(manifest)
        except ManifestMissing:
            return {}, StatCache()
        for path in self._seen:
            cache.invalidate(path)
            entries.pop(path, None)
        for path in cache.without_key(entries):
            del entries[path]
        cache.pack()
        return entries, cache

    def attribute_found(
        self, base: dict[str, Entry], entries: Entries, scan: Scan, detected: DetectedChanges
    ) -> None:
        """Record files that only the first scan has found as covered, not as changed. Changes `base`."""
        unseen = [path for path in detected.changes if path not in self._seen]
        for path in (*unseen, *scan.newly_ignored, *entries):
            base.pop(path, None)
        for path in unseen:
            entry = detected.changes.pop(path)
            if entry is not None and path not in entries:
                base[path] = entry
        base |= {path: entry for path, entry in detected.coverage.items() if entry and path not in base}
        detected.coverage = cast("dict[str, Entry | None]", base)  # not copied: may have 100,000 items
        detected.is_complete = True
