"""The first of the changes that are too many or too long to be shown whole."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest

from kimi_tui.tools.file.comparison import Change

_MAX_ROWS = 60
_BESIDE = 40
"""Characters that are shown before and after what differs in a line."""
_MAX_CHANGED = 200
"""Characters that are shown of what differs in a line."""


def first_changes(old: Sequence[str], new: Sequence[str], changes: Iterable[Change]) -> list[str]:
    """What differs, a line each, with its number and sign; of long ones only what is around it."""
    rows = list(islice(_rows(old, new, changes), _MAX_ROWS + 1))
    return [*rows[:_MAX_ROWS], "…"] if len(rows) > _MAX_ROWS else rows


def _rows(old: Sequence[str], new: Sequence[str], changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        removed, added = old[change.old_start : change.old_end], new[change.new_start : change.new_end]
        for number, (before, after) in enumerate(zip_longest(removed, added)):
            start, after_end = _common(before, after)
            if before is not None:
                yield f"{change.old_start + number + 1} − {_around(before.rstrip(), start, after_end)}"
            if after is not None:
                yield f"{change.new_start + number + 1} + {_around(after.rstrip(), start, after_end)}"


def _common(before: str | None, after: str | None) -> tuple[int, int]:
    """How many characters both begin with, and how many of the rest both end with."""
    if before is None or after is None:
        return 0, 0
    before, after = before.rstrip(), after.rstrip()
    start = _agreeing(before, after)
    return start, _agreeing(before[start:][::-1], after[start:][::-1])


def _agreeing(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:  # slices are compared many times faster than characters one by one
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _around(line: str, start: int, same_at_end: int) -> str:
    first = max(start - _BESIDE, 0)
    last = min(len(line) - same_at_end, start + _MAX_CHANGED) + _BESIDE
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"
