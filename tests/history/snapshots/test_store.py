"""What a store keeps, whatever the clock says."""

import errno
import os
import time

import pytest

from kimi_tui.base.errors import SessionError
from kimi_tui.history.snapshots.caps import Caps
from kimi_tui.history.snapshots.store import ProjectStore
from tests.history.snapshots.place import Place

YEAR_S = 365 * 86_400.0


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
