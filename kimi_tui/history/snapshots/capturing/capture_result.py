"""Result of a capture."""

from collections.abc import Mapping
from dataclasses import field

from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.entry import Changes, Entry
from kimi_tui.history.snapshots.stat_cache import StatKey


@frozen
class CaptureResult:
    """A recorded state."""

    manifest: str
    changes: Changes
    """Changes since the previous state; empty for the first state."""
    before: dict[str, Entry | None] = field(default_factory=dict)
    """Previous entries of the changed paths."""
    stat_keys: Mapping[str, StatKey] = field(default_factory=dict)
    """Keys of the requested paths, to detect later changes; an empty key for a missing path."""

    def is_folder(self, path: str) -> bool:
        """Return whether a changed path neither was nor is a file: only directories, or nothing."""
        states = self.changes.get(path), self.before.get(path)
        return all(entry is None or entry.kind == "folder" for entry in states)
