"""What a store keeps, whatever the clock says."""

import errno
import os
import time
from functools import partial
from pathlib import Path

import pytest

from kimi_tui.base.errors import SessionError
from kimi_tui.history.snapshots.caps import Caps
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.store import ProjectStore
from tests.history.snapshots.place import Place

DAY_S = 86_400.0
YEAR_S = 365 * DAY_S


def closed_with_two_states(place: Place) -> int:
    for text in ("one", "two"):
        (place.work / "a.txt").write_text(text)
        place.checkpoint()
    place.store.close()
    return place.store.usage().states


def test_a_clock_that_jumps_ahead_costs_no_state(place: Place) -> None:
    kept = closed_with_two_states(place)
    place.store.collect_when_due(Caps(age_days=30), clock=lambda: time.time() + YEAR_S)
    assert place.store.usage().states == kept
    place.store.prune(Caps(age_days=30), now=time.time() + YEAR_S)  # who says when it is
    assert place.store.usage().states == 0


def test_a_collection_of_the_future_does_not_put_off_the_next_one(place: Place) -> None:
    closed_with_two_states(place)
    stamp = place.store.folder / "collected"
    stamp.touch()
    os.utime(stamp, (time.time() + YEAR_S,) * 2)
    place.store.collect_when_due(Caps(age_days=0))
    assert stamp.stat().st_mtime < time.time() + YEAR_S / 2


def test_where_there_are_no_locks_nothing_is_collected_that_a_session_may_use(place: Place) -> None:
    """As on some network file systems: the session that has the store open can't be seen."""

    def no_locks(file: int, *, shared: bool = False, waits: bool = False) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    kept = closed_with_two_states(place)
    store = ProjectStore(place.store.folder.parents[1], place.work, "two", lock=no_locks)
    with pytest.raises(SessionError, match="no locks"):
        store.prune(Caps(age_days=30), now=time.time() + YEAR_S)
    store.collect_when_due(Caps(age_days=0))
    store.open()
    store.close()
    assert store.usage().states == kept


def sessions_every_other_day(folder: Path, days: int) -> list[ProjectStore]:
    """The stores of sessions that follow each other every other day, each of which changes a file."""
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
    """What the last state of a store's session holds."""
    store.blobs.open()
    newest = store.manifests.newest(store.session)
    assert newest is not None
    return {path: store.blobs.read(entry.ref) for path, entry in store.manifests.entries(newest).items()}


def test_old_states_go_though_sessions_follow_each_other(tmp_path: Path) -> None:
    stores = sessions_every_other_day(tmp_path, 10)
    stores[-1].prune(Caps(age_days=8))
    assert stores[0].manifests.newest("of-day-0") is None
    assert state_of(stores[-1]) == {"a.txt": b"day 9", "same.txt": b"same"}
    assert stores[-1].usage().states < 10


def test_the_oldest_states_go_when_a_store_is_too_large_and_the_newest_stays(tmp_path: Path) -> None:
    stores = sessions_every_other_day(tmp_path, 4)
    assert stores[-1].prune(Caps(total=1)) > 0
    assert stores[-1].usage().states < 4
    assert state_of(stores[-1]) == {"a.txt": b"day 3", "same.txt": b"same"}


def test_sessions_of_one_day_that_build_on_each_other_stay_together_however_large_they_are(
    place: Place,
) -> None:
    (place.work / "a.txt").write_text("one")
    place.checkpoint()
    place.history.close()
    again = Place(place.work.parent, session="two")
    again.history.open()
    (again.work / "a.txt").write_text("two")
    again.checkpoint()
    again.history.close()
    again.store.prune(Caps(total=1))
    assert state_of(again.store) == {"a.txt": b"two"}
    assert state_of(place.store) == {"a.txt": b"one"}
