"""Attribution of changes to other sessions in the same working directory.

Another session's manifests contain its changes: a path, its new state, and the time. If this session finds a
change while none of its calls runs, the change is attributed to the other session under two conditions:

- Both sessions recorded the same new state of the path.
- The other session recorded it between this session's previous and next record of the path. If the user makes
  the same change at another time, it is therefore attributed to the user.

A scan after a call finds all changes since the call began, by anyone. If a call of another session ran at the
same time, either call may have made a change that both sessions found. If the other session recorded exactly
what its call wrote, the change is attributed to that session.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.open_calls import InterruptedCall

CLOCK_TOLERANCE_S = 2.0
"""Tolerance for times of records. A record is written at the end of a scan, which may take this long."""

RecordedChange = tuple[str, str]
"""The id of a record, and a path in it."""


@frozen
class OtherSessionChanges:
    """The changes in this session's records that other sessions made."""

    known: frozenset[RecordedChange] = frozenset()
    """Changes that another session made."""
    possible: frozenset[RecordedChange] = frozenset()
    """Changes by a call of this session, or by a call of another session that ran at the same time."""


NO_OTHER_SESSION_CHANGES = OtherSessionChanges()


def find_other_session_changes(
    records: Sequence[Manifest],
    others: Collection[Manifest],
    *,
    since: float,
    own_calls: Collection[str],
    open_calls: Iterable[InterruptedCall] = (),
) -> OtherSessionChanges:
    """Return the changes in `records` (oldest first) that other sessions made or may have made.

    `since` is the time of the state before `records`, in seconds since the epoch. `others` are the records of
    other sessions since then. `own_calls` are the ids of the records with changes that were found after a
    call of this session. `open_calls` are open calls of other sessions.
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
    """Return whether a call from `began` to `ended` may have made the changes in `record`."""
    return 0 < began <= record.time and ended >= record.author.began


def _wrote_exactly(other: Manifest, path: str, entry: Entry | None) -> bool:
    """Return whether a tool is known to have changed `path` to `entry`."""
    return other.author.is_tool and not other.author.began and other.changes[path] == entry


def changes_by_other_sessions(
    records: Sequence[Manifest], others: Iterable[Manifest], *, since: float
) -> frozenset[RecordedChange]:
    """Return the changes among `records` (oldest first) that also appear in `others`.

    `since` is the time of the state before `records`, in seconds since the epoch.
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
