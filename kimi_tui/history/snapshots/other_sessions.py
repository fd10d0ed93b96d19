"""Attribution of changes to other sessions in the same working directory.

Another session's manifests contain its changes: a path, its new state, and the time. A change seen by this
session is attributed to the other one if both recorded the same new state of the path, and the other's record
is from the time between this session's previous and next record of that path. The same change made by the
user at another time is thus attributed to the user.
"""

from collections.abc import Iterable, Sequence

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest

CLOCK_TOLERANCE_S = 2.0
"""A record is written when its scan ends, which may take this long."""

OtherSessionChanges = frozenset[tuple[str, str]]
"""Pairs of a record's id and a path in it that another session changed."""


def changes_by_other_sessions(
    records: Sequence[Manifest], others: Iterable[Manifest], *, since: float
) -> OtherSessionChanges:
    """Return the changes among `records` (oldest first) that also appear in `others`.

    `since` is when paths were last seen before the first record, in seconds since the epoch.
    """
    times_by_change: dict[tuple[str, Entry | None], list[float]] = {}
    for other in others:
        for change in other.changes.items():
            times_by_change.setdefault(change, []).append(other.time)
    if not times_by_change:
        return frozenset()
    paths = {path for path, _ in times_by_change}
    records_by_path: dict[str, list[Manifest]] = {}
    for record in records:
        for path in record.changes.keys() & paths:
            records_by_path.setdefault(path, []).append(record)
    result = set()
    for path, path_records in records_by_path.items():
        times = [since, *(record.time for record in path_records), float("inf")]
        for number, record in enumerate(path_records):
            earliest, latest = times[number] - CLOCK_TOLERANCE_S, times[number + 2] + CLOCK_TOLERANCE_S
            change_times = times_by_change.get((path, record.changes[path]), ())
            if any(earliest <= time <= latest for time in change_times):
                result.add((record.id, path))
    return frozenset(result)
