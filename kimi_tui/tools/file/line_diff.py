"""Line differences between two versions of a text."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_MAX_DIFFLIB_LINES = 400
"""Maximum number of lines per side for difflib, whose cost grows with the product of both sides."""
_MAX_DEPTH = 30


@dataclass(frozen=True, slots=True)
class LineChange:
    """Lines `old_start` to `old_end` (from 0) became lines `new_start` to `new_end`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def split_lines(text: str) -> list[str]:
    r"""Return the lines of `text` with their endings. Only `\n` ends a line."""
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def diff_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[LineChange]:
    """Yield the changes that turn `old` into `new`, in order and not adjacent to each other.

    Lines that occur once on both sides are anchors (patience diff), so that long files are compared in nearly
    linear time. Short gaps between anchors are compared by difflib.
    """
    last: LineChange | None = None
    for change in _diff_gap(old, new, LineChange(0, len(old), 0, len(new)), 0):
        if last and (last.old_end, last.new_end) == (change.old_start, change.new_start):
            last = LineChange(last.old_start, change.old_end, last.new_start, change.new_end)
            continue
        if last:
            yield last
        last = change
    if last:
        yield last


def _diff_gap(old: Sequence[str], new: Sequence[str], gap: LineChange, depth: int) -> Iterator[LineChange]:
    gap = _trim_common(old, new, gap)
    n_old, n_new = gap.old_end - gap.old_start, gap.new_end - gap.new_start
    if not n_old and not n_new:
        return
    if not n_old or not n_new:
        yield gap
    elif max(n_old, n_new) <= _MAX_DIFFLIB_LINES:
        yield from _difflib_changes(old, new, gap)
    elif depth < _MAX_DEPTH and (anchors := _find_anchors(old, new, gap)):
        ends = [(gap.old_start - 1, gap.new_start - 1), *anchors, (gap.old_end, gap.new_end)]
        for (old_before, new_before), (old_after, new_after) in pairwise(ends):
            if (old_after - old_before, new_after - new_before) != (1, 1):
                between = LineChange(old_before + 1, old_after, new_before + 1, new_after)
                yield from _diff_gap(old, new, between, depth + 1)
    else:
        yield gap


def _trim_common(old: Sequence[str], new: Sequence[str], gap: LineChange) -> LineChange:
    old_start, old_end, new_start, new_end = gap.old_start, gap.old_end, gap.new_start, gap.new_end
    while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
        old_start, new_start = old_start + 1, new_start + 1
    while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return LineChange(old_start, old_end, new_start, new_end)


def _difflib_changes(old: Sequence[str], new: Sequence[str], gap: LineChange) -> Iterator[LineChange]:
    matcher = SequenceMatcher(
        None, old[gap.old_start : gap.old_end], new[gap.new_start : gap.new_end], autojunk=False
    )
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind != "equal":
            yield LineChange(
                gap.old_start + old_start,
                gap.old_start + old_end,
                gap.new_start + new_start,
                gap.new_start + new_end,
            )


def _find_anchors(old: Sequence[str], new: Sequence[str], gap: LineChange) -> list[tuple[int, int]]:
    """Return the longest ordered list of pairs of equal lines that occur once on both sides of `gap`."""
    in_old = _unique_lines(old, gap.old_start, gap.old_end)
    in_new = _unique_lines(new, gap.new_start, gap.new_end)
    pairs = [(at, in_new[line]) for line, at in in_old.items() if line in in_new]
    tails: list[int] = []
    """For each length, the smallest line number in `new` that ends an ascending run."""
    ends: list[int] = []
    before: list[int] = []
    for index, (_, position) in enumerate(pairs):
        length = bisect_left(tails, position)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [position]
        ends[length : length + 1] = [index]
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _unique_lines(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    counts = Counter(lines[start:end])
    return {lines[at]: at for at in range(start, end) if counts[lines[at]] == 1}
