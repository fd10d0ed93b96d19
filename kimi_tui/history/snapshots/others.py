"""Others: which of the changes that one session saw, the tools of another session in the same folder made.

What another session did stands in its own records: a path, what it became, and when. A change that this one
saw is that one when both made the same of the path, and the other's record lies between the moments when
this session saw the path before and after it: so what the user makes the same at another time is the user's.
"""

from collections.abc import Iterable, Sequence

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest

BLUR_S = 2.0
"""A record is written when a look has ended, which may have taken so long."""

ChangesOfOthers = frozenset[tuple[str, str]]
"""Records, by their ids, with the paths in them that another session changed."""


def changed_by_others(
    records: Sequence[Manifest], others: Iterable[Manifest], *, since: float
) -> ChangesOfOthers:
    """Which changes among `records`, oldest first, are in those of `others`.

    Before the first of a path it was last seen at `since`, in seconds since the epoch.
    """
    made: dict[tuple[str, Entry | None], list[float]] = {}
    for other in others:
        for change in other.changes.items():
            made.setdefault(change, []).append(other.time)
    if not made:
        return frozenset()
    paths = {path for path, _ in made}
    seen: dict[str, list[Manifest]] = {}
    for record in records:
        for path in record.changes.keys() & paths:
            seen.setdefault(path, []).append(record)
    found = set()
    for path, its in seen.items():
        times = [since, *(record.time for record in its), float("inf")]
        for number, record in enumerate(its):
            earliest, latest = times[number] - BLUR_S, times[number + 2] + BLUR_S
            if any(earliest <= time <= latest for time in made.get((path, record.changes[path]), ())):
                found.add((record.id, path))
    return frozenset(found)
