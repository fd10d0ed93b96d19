"""Differences between file states: compares only the paths that the records between two states name."""

from collections.abc import Iterable, Iterator

from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.comparable_states import add_found
from kimi_tui.history.snapshots.entry import Changes, Entry
from kimi_tui.history.snapshots.manifest import Manifest, ManifestLog
from kimi_tui.history.snapshots.stored_state import StoredState

_MAX_WHOLE_STATES = 2
"""Whole states kept in memory: that of the current files, and an older one in a long session."""


@frozen
class _Step:
    """A record without its whole state. Records are small, whole states aren't."""

    id: str
    parent: str | None
    changes: Changes
    gone: frozenset[str]
    """The paths that were removed."""
    is_coverage: bool
    """Whether it only found files that existed before."""
    is_complete: bool
    is_whole: bool


class StateDifferences:
    """Computes differences between states of one log, and keeps what it reads for the next ones."""

    def __init__(self, manifests: ManifestLog) -> None:
        self.manifests = manifests
        self._last: tuple[str, str, Changes] | None = None
        """The last difference: attempts that start together need the same one."""
        self._steps: dict[str, _Step] = {}
        self._whole: dict[str, StoredState] = {}
        """The whole states used last, the latest at the end."""

    def between(self, current: str, target: str) -> Changes:
        """Return what turns the state `current` into `target`. Raises ManifestMissing."""
        if current == target:
            return {}
        if self._last is None or self._last[:2] != (current, target):
            self._last = current, target, self._compare(current, target)
        return self._last[2]

    def _compare(self, current: str, target: str) -> Changes:
        after_current, after_target = self._find_branches(current, target)
        adds_to_current = not self._step(current).is_complete and not after_current
        adds_to_target = not self._step(target).is_complete and not after_target
        paths = _changed_paths((*after_current, *after_target), adds_found=adds_to_current or adds_to_target)
        old, new = self._entries(current, paths), self._entries(target, paths)
        if adds_to_current:
            add_found(old, _oldest_first(after_target, paths))
        if adds_to_target:
            add_found(new, _oldest_first(after_current, paths))
        return {path: new.get(path) for path in paths if old.get(path) != new.get(path)}

    def _find_branches(self, first: str, second: str) -> tuple[list[_Step], list[_Step]]:
        """Return the records after the last common state up to either state, newest first.

        Without a common state, all records of both.
        """
        branches: tuple[list[_Step], list[_Step]] = ([], [])
        positions: tuple[dict[str, int], dict[str, int]] = ({}, {})
        walks = self._steps_from(first), self._steps_from(second)
        is_open = [True, True]
        while any(is_open):
            for side in (0, 1):
                step = next(walks[side], None) if is_open[side] else None
                if step is None:
                    is_open[side] = False
                    continue
                positions[side][step.id] = len(branches[side])
                branches[side].append(step)
                if (position := positions[1 - side].get(step.id)) is not None:
                    branches[side].pop()
                    del branches[1 - side][position:]
                    return branches
        for branch in branches:
            branch[-1] = _to_step(self.manifests.read(branch[-1].id))  # all files of its state are changes
        return branches

    def _steps_from(self, manifest: str) -> Iterator[_Step]:
        current: str | None = manifest
        while current is not None:
            step = self._step(current)
            yield step
            current = step.parent

    def _entries(self, manifest: str, paths: Iterable[str]) -> dict[str, Entry]:
        """Return the entries of `paths` in a state."""
        known: dict[str, Entry | None] = {}
        missing = set(paths)
        for step in self._steps_from(manifest):
            if not missing:
                break
            if step.is_whole:
                known |= self._whole_state(step.id).find(missing)
                break
            found = missing & step.changes.keys()
            known |= {path: step.changes[path] for path in found}
            missing -= found
        return {path: entry for path, entry in known.items() if entry is not None}

    def _step(self, manifest: str) -> _Step:
        if manifest not in self._steps:
            self._read(manifest)
        return self._steps[manifest]

    def _whole_state(self, manifest: str) -> StoredState:
        if manifest not in self._whole:
            self._read(manifest)
        self._whole[manifest] = state = self._whole.pop(manifest)  # the others are dropped first
        return state

    def _read(self, manifest: str) -> None:
        record, whole = self.manifests.read_state(manifest)
        self._steps[record.id] = _to_step(record, is_whole=whole is not None)
        if whole is not None:
            self._whole[record.id] = whole
            while len(self._whole) > _MAX_WHOLE_STATES:
                del self._whole[next(iter(self._whole))]


def _to_step(record: Manifest, *, is_whole: bool = True) -> _Step:
    return _Step(
        record.id,
        record.parent,
        record.changes,
        frozenset(path for path, entry in record.changes.items() if entry is None),
        record.author.who == "coverage",
        record.is_complete,
        is_whole,
    )


def _changed_paths(steps: Iterable[_Step], *, adds_found: bool) -> set[str]:
    """Return the paths that may differ after `steps`.

    With `adds_found`, files that the steps found are added to the earlier state. Files that were found once
    and not changed then don't differ. These may be nearly all files of the project.
    """
    paths: set[str] = set()
    found: set[str] = set()
    for step in steps:
        if adds_found and step.is_coverage:
            paths |= step.gone
            paths |= step.changes.keys() & found
            found |= step.changes.keys()
        else:
            paths |= step.changes.keys()
    return paths


def _oldest_first(steps: list[_Step], paths: set[str]) -> list[tuple[Changes, bool]]:
    """Return what `add_found` needs of the records for `paths`."""
    return [
        ({path: step.changes[path] for path in paths if path in step.changes}, step.is_coverage)
        for step in reversed(steps)
    ]
