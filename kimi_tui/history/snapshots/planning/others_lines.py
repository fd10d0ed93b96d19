"""Lines written by others than the agent since a state. A revert doesn't remove the only copy of such a line.

This rule doesn't depend on the file that contains the line, so it also holds if a rename wasn't detected.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kimi_tui.base.message_text import msg
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Entries, Entry
from kimi_tui.history.snapshots.merge3 import MAX_BYTES, is_text
from kimi_tui.history.snapshots.plan import PlanItem


@dataclass(frozen=True, slots=True)
class EntryChanges:
    """The changes in one record by others than the agent, or by one revert."""

    entries: Mapping[str, tuple[Entry | None, Entry | None]]
    """Path -> its entries before and after."""
    is_revert: bool = False
    """Whether a revert of this session made the changes. Restored lines of others count as theirs."""


_MAX_COMPARED = 2_000
"""Maximum number of contents that are read. Lines in further contents aren't known."""
_NO_LINES: frozenset[bytes] = frozenset()


class OthersLines:
    """The lines written by others than the agent since a state. Content that isn't text is one line."""

    def __init__(self, changes_by_others: Iterable[EntryChanges], blobs: BlobStore) -> None:
        """`changes_by_others` are the changes by others and the reverts since the state, oldest first."""
        self._blobs = blobs
        self._n_read = 0
        written = set[bytes]()
        """All lines that others ever wrote."""
        self._lines: set[bytes] = set()
        self._by_ref: dict[str, frozenset[bytes]] = {}
        """The lines by others in each content, by its digest."""
        for changes in changes_by_others:
            if changes.is_revert and not written:
                continue
            before = set[bytes]().union(*(self._read(old) for old, _ in changes.entries.values()))
            after = set[bytes]().union(*(self._read(new) for _, new in changes.entries.values()))
            if changes.is_revert:
                self._lines |= (after - before) & written
                continue
            written |= after - before
            self._lines -= before - after
            self._lines |= after - before

    def find_only_copies(
        self, items: Mapping[str, PlanItem], now: Entries, changed: Iterable[str]
    ) -> dict[str, str]:
        """Return the paths at which `items` would remove the only copy of a line by others, with a note.

        `changed` are the paths that have changed since the state.
        """
        removed = self._find_removed(items)
        if not removed:
            return {}
        staying = self._staying(items, now, changed)
        remaining = staying.union(*(self._in(item.then) for item in items.values() if item.is_selected))
        note = msg("it has the only copy of lines that this revert keeps")
        return {path: note for path, lines in removed.items() if lines - remaining}

    def find_destinations(
        self, items: Mapping[str, PlanItem], now: Entries, changed: Iterable[str]
    ) -> dict[str, str]:
        """Return the paths at which `items` remove lines by others, each with a path that gets the lines."""
        removed = self._find_removed(items)
        if not removed:
            return {}
        staying = self._staying(items, now, changed)
        written: dict[bytes, str] = {}
        for path, item in items.items():
            if item.is_selected:
                written |= dict.fromkeys(self._in(item.then) - self._in(item.now), path)
        found = {
            path: next((written[line] for line in sorted(lines - staying) if line in written), "")
            for path, lines in removed.items()
        }
        return {path: other for path, other in found.items() if other}

    def _find_removed(self, items: Mapping[str, PlanItem]) -> dict[str, frozenset[bytes]]:
        """Return the lines by others that each item removes."""
        if not self._lines:
            return {}
        return {path: lines for path, item in items.items() if (lines := self._removed_by(item))}

    def _staying(
        self, items: Mapping[str, PlanItem], now: Entries, changed: Iterable[str]
    ) -> frozenset[bytes]:
        """Return the lines by others in changed files that stay as they are."""
        entries = [item.now for item in items.values() if not item.is_selected]
        entries += [now.get(path) for path in changed if path not in items]
        return _NO_LINES.union(*map(self._in, entries))

    def _removed_by(self, item: PlanItem) -> frozenset[bytes]:
        return self._in(item.now) - self._in(item.then) if item.is_selected else _NO_LINES

    def _in(self, entry: Entry | None) -> frozenset[bytes]:
        """Return the lines by others in an entry."""
        if entry is None or entry.kind != "file" or not entry.size:
            return _NO_LINES
        if (lines := self._by_ref.get(entry.ref)) is None:
            lines = self._by_ref[entry.ref] = frozenset(self._read(entry) & self._lines)
        return lines

    def _read(self, entry: Entry | None) -> set[bytes]:
        """Return the lines of a file, except blank ones."""
        if entry is None or entry.kind != "file":
            return set()
        if entry.size > MAX_BYTES:
            return {entry.ref.encode()}
        self._n_read += 1
        if self._n_read > _MAX_COMPARED:
            return set()
        try:
            content = self._blobs.read(entry.ref)
        except (BlobMissing, OSError):
            return set()
        if not is_text(content):
            return {entry.ref.encode()}
        return {line for line in content.splitlines() if line.strip()}
