"""Differences between states equal those of the complete states, also with branches and found files."""

import random
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.comparable_states import comparable_states
from kimi_tui.history.snapshots.entry import Changes, Entry, apply_changes
from kimi_tui.history.snapshots.manifest import ManifestLog, ManifestMissing
from kimi_tui.workspaces.checkpoint.state_differences import StateDifferences

PATHS = [f"folder{number % 4}/file{number}" for number in range(24)]
COVERAGE = ChangeAuthor(who="coverage")


def entry(rng: random.Random) -> Entry:
    return Entry(kind="file", mode=0o644, size=1, ref=f"{rng.randrange(4)}")


class GeneratedHistory:
    """Records with branches: states are edited, found to have more files, and continued from earlier ones."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.log = ManifestLog(folder, "s")
        self.states: dict[str, dict[str, Entry]] = {}
        self.is_complete: dict[str, bool] = {}
        self.ids: list[str] = []
        first = {path: entry(self.rng) for path in PATHS[:6]}
        self._add(None, USER, first, is_complete=self.rng.random() < 0.5)
        for _ in range(self.rng.randrange(4, 40)):
            self._continue()

    def _continue(self) -> None:
        rng = self.rng
        parent = self.ids[-1] if rng.random() < 0.8 else rng.choice(self.ids)
        state = self.states[parent]
        if not self.is_complete[parent] and rng.random() < 0.3:
            missing = [path for path in PATHS if path not in state]
            found = rng.sample(missing, rng.randrange(len(missing) + 1))
            changes: dict[str, Entry | None] = {path: entry(rng) for path in found}
            self._add(parent, COVERAGE, changes, is_complete=rng.random() < 0.7)
        else:
            changes = {
                path: None if path in state and rng.random() < 0.4 else entry(rng)
                for path in rng.sample(PATHS, rng.randrange(4))
            }
            self._add(parent, USER, changes, is_complete=self.is_complete[parent])

    def _add(self, parent: str | None, author: ChangeAuthor, changes: Changes, *, is_complete: bool) -> None:
        state = dict(self.states[parent]) if parent is not None else {}
        added = self.log.append(parent, author, changes, state, is_complete=is_complete)
        apply_changes(changes, state)
        self.states[added], self.is_complete[added] = state, is_complete
        self.ids.append(added)

    def expected(self, current: str, target: str) -> Changes:
        old, new = comparable_states(self.log, current, target)
        return {path: new.get(path) for path in {*old, *new} if old.get(path) != new.get(path)}


@pytest.mark.parametrize("seed", range(60))
def test_they_equal_those_of_the_complete_states(tmp_path: Path, seed: int) -> None:
    history = GeneratedHistory(tmp_path, seed)
    differences = StateDifferences(history.log)
    for _ in range(40):
        current, target = history.rng.choice(history.ids), history.rng.choice(history.ids)
        assert differences.between(current, target) == history.expected(current, target)


def test_records_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = GeneratedHistory(tmp_path, 7)
    read: list[str] = []
    original = ManifestLog.read

    def note(log: ManifestLog, manifest: str) -> object:
        read.append(manifest)
        return original(log, manifest)

    monkeypatch.setattr(ManifestLog, "read", note)
    differences = StateDifferences(history.log)
    for state in history.ids:
        differences.between(history.ids[-1], state)
    again = {state for state in read if read.count(state) > 1}
    assert all(original(history.log, state).whole is not None for state in again)  # only few of them are kept
    read.clear()
    differences.between(history.ids[-1], history.ids[-2])
    assert not read


def test_a_state_that_is_no_longer_stored_is_reported(tmp_path: Path) -> None:
    history = GeneratedHistory(tmp_path, 1)
    with pytest.raises(ManifestMissing):
        StateDifferences(history.log).between(history.ids[-1], "gone:0")
