"""Attribution of changes to other sessions in the same working directory.

Another session's manifests contain its changes: a path, its new state, and the time. A change that this
session found while none of its calls ran is attributed to the other one if both recorded the same new state
of the path, and the other's record is from the time between this session's previous and next record of that
path. The same change made by the user at another time is thus attributed to the user.

A scan after a call finds all changes since the call began, by anyone. If a call of another session ran at the
same time, a change that both found may be of either one. It is the other session's if that one recorded
exactly what its call wrote.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.open_calls import InterruptedCall

CLOCK_TOLERANCE_S = 2.0
"""A record is written when its scan ends, which may take this long."""

RecordedChange = tuple[str, str]
"""The id of a record, and a path in it."""


@frozen
class OtherSessionChanges:
    """The changes in this session's records that other sessions made."""

    known: frozenset[RecordedChange] = frozenset()
    """Changes that another session made."""
    possible: frozenset[RecordedChange] = frozenset()
    """Changes by a call of this session, or by one of another session that ran at the same time."""


NO_OTHER_SESSION_CHANGES = OtherSessionChanges()


def find_other_session_changes(
    records: Sequence[Manifest],
    others: Collection[Manifest],
    *,
    since: float,
    own_calls: Collection[str],
    open_calls: Iterable[InterruptedCall] = (),
) -> OtherSessionChanges:
    """Return which changes in `records` (oldest first) are, or may be, those of other sessions.

    `others` are the records of other sessions since `since`, the time in seconds since the epoch at which the
    paths were last seen before the first record. `own_calls` are the ids of the records with changes that
    were found after a call of this session. `open_calls` are those of other sessions.
    """
    by_tools = [other for other in others if other.author.is_tool]
    known = set(changes_by_other_sessions(
        [record for record in records if record.id not in own_calls], by_tools, since=since
    ))  # fmt: skip
    possible: set[RecordedChange] = set()
    if calls := [record for record in records if record.id in own_calls and record.author.began]:
        others_by_path = _by_path(others)
        open_calls = list(open_calls)
        for record in calls:
            is_any_open = any(_overlaps(record, call.author.began, call.ended) for call in open_calls)
            for path, entry in record.changes.items():
                overlapping = [
                    other
                    for other in others_by_path.get(path, ())
                    if _overlaps(record, other.author.began or other.time, other.time)
                ]
                if overlapping and _wrote_exactly(overlapping[-1], path, entry):
                    known.add((record.id, path))
                elif overlapping or is_any_open:
                    possible.add((record.id, path))
    return OtherSessionChanges(frozenset(known), frozenset(possible))


def _by_path(records: Iterable[Manifest]) -> Mapping[str, list[Manifest]]:
    """Return the records by changed path, oldest first."""
    by_path: dict[str, list[Manifest]] = {}
    for record in sorted(records, key=lambda record: record.time):
        for path in record.changes:
            by_path.setdefault(path, []).append(record)
    return by_path


def _overlaps(record: Manifest, began: float, ended: float) -> bool:
    """Return whether something may have changed what the scan of `record` found."""
    return 0 < began <= record.time and ended >= record.author.began


def _wrote_exactly(other: Manifest, path: str, entry: Entry | None) -> bool:
    """Return whether a tool is known to have changed `path` to `entry`."""
    return other.author.is_tool and not other.author.began and other.changes[path] == entry


def changes_by_other_sessions(
    records: Sequence[Manifest], others: Iterable[Manifest], *, since: float
) -> frozenset[RecordedChange]:
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
