"""What a store keeps when it is pruned, also if the clock is wrong."""

import errno
import os
import time
from functools import partial
from pathlib import Path

import pytest

from kimi_tui.base.errors import SessionError
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.limits import SnapshotLimits
from kimi_tui.history.snapshots.project_store import ProjectStore
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

DAY_S = 86_400.0
YEAR_S = 365 * DAY_S


def close_with_two_states(project: FileHistoryFixture) -> int:
    for text in ("one", "two"):
        (project.work / "a.txt").write_text(text)
        project.checkpoint()
    project.store.close()
    return project.store.usage().states


def test_a_clock_that_jumps_ahead_deletes_no_states(project: FileHistoryFixture) -> None:
    n_states = close_with_two_states(project)
    project.store.collect_when_due(SnapshotLimits(age_days=30), clock=lambda: time.time() + YEAR_S)
    assert project.store.usage().states == n_states
    project.store.prune(SnapshotLimits(age_days=30), now=time.time() + YEAR_S)  # an explicit time is trusted
    assert project.store.usage().states == 0


def test_a_prune_time_in_the_future_does_not_delay_the_next_prune(project: FileHistoryFixture) -> None:
    close_with_two_states(project)
    stamp = project.store.folder / "collected"
    stamp.touch()
    os.utime(stamp, (time.time() + YEAR_S,) * 2)
    project.store.collect_when_due(SnapshotLimits(age_days=0))
    assert stamp.stat().st_mtime < time.time() + YEAR_S / 2


def test_without_file_locks_nothing_is_pruned(
    project: FileHistoryFixture,
) -> None:
    """On some network file systems, a session that uses the store can't be detected."""

    def no_locks(file: int, *, shared: bool = False, waits: bool = False) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    n_states = close_with_two_states(project)
    store = ProjectStore(project.store.folder.parents[1], project.work, "two", lock=no_locks)
    with pytest.raises(SessionError, match="support locks"):
        store.prune(SnapshotLimits(age_days=30), now=time.time() + YEAR_S)
    store.collect_when_due(SnapshotLimits(age_days=0))
    store.open()
    store.close()
    assert store.usage().states == n_states


def run_sessions_every_other_day(folder: Path, days: int) -> list[ProjectStore]:
    """Run sessions every other day, each of which changes a file. Return their stores."""
    (folder / "work").mkdir()
    (folder / "work" / "same.txt").write_text("same")
    stores = []
    for day in range(days):
        (folder / "work" / "a.txt").write_text(f"day {day}")
        now = time.time() - (days - day) * 2 * DAY_S
        store = ProjectStore(folder / "share", folder / "work", f"of-day-{day}", clock=partial(float, now))
        history = FileHistory(store)
        history.open()
        history.capture()
        history.close()
        stores.append(store)
    return stores


def state_of(store: ProjectStore) -> dict[str, bytes]:
    """Return the contents of the last state of a store's session."""
    store.blobs.open()
    newest = store.manifests.newest(store.session)
    assert newest is not None
    return {path: store.blobs.read(entry.ref) for path, entry in store.manifests.entries(newest).items()}


def test_old_states_are_deleted_even_if_sessions_follow_each_other(tmp_path: Path) -> None:
    stores = run_sessions_every_other_day(tmp_path, 10)
    stores[-1].prune(SnapshotLimits(age_days=8))
    assert stores[0].manifests.newest("of-day-0") is None
    assert state_of(stores[-1]) == {"a.txt": b"day 9", "same.txt": b"same"}
    assert stores[-1].usage().states < 10


def test_the_oldest_states_of_a_store_that_is_too_large_are_deleted(tmp_path: Path) -> None:
    stores = run_sessions_every_other_day(tmp_path, 4)
    assert stores[-1].prune(SnapshotLimits(total=1)) > 0
    assert stores[-1].usage().states < 4
    assert state_of(stores[-1]) == {"a.txt": b"day 3", "same.txt": b"same"}


def test_dependent_sessions_of_one_day_are_kept_whatever_their_size(
    project: FileHistoryFixture,
) -> None:
    (project.work / "a.txt").write_text("one")
    project.checkpoint()
    project.history.close()
    reopened = FileHistoryFixture(project.work.parent, session="two")
    reopened.history.open()
    (reopened.work / "a.txt").write_text("two")
    reopened.checkpoint()
    reopened.history.close()
    reopened.store.prune(SnapshotLimits(total=1))
    assert state_of(reopened.store) == {"a.txt": b"two"}
    assert state_of(project.store) == {"a.txt": b"one"}


def test_records_of_sessions_that_are_never_resumed_are_deleted_with_old_states(
    project: FileHistoryFixture,
) -> None:
    project.checkpoint()
    call = project.history.begin_call(project.call("make"))
    outcome = project.store.folder / "reverts" / "1.outcome"
    outcome.parent.mkdir(exist_ok=True)
    outcome.write_text("{}")
    project.store.close()
    project.store.prune(SnapshotLimits(age_days=30))
    assert call.exists()
    assert outcome.exists()
    for file in (call, outcome):
        os.utime(file, (time.time() - 31 * DAY_S,) * 2)
    project.store.prune(SnapshotLimits(age_days=30))
    assert not call.exists()
    assert not outcome.exists()
