"""Comparison of two texts line by line."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import pairwise
from typing import TypeVar

_MAX_DIFFLIB_LINES = 400
"""Maximum number of lines per side for difflib, whose cost grows with the product of both sides."""
_WINDOWS = (1, 8)
"""Numbers of lines that are an anchor if they occur once on both sides. Repetitive texts need longer ones."""
_MAX_DEPTH = 30

Line = TypeVar("Line", str, bytes)
Opcode = tuple[str, int, int, int, int]
"""`equal`, `replace`, `delete` or `insert`; start and end in the old lines; the same for the new lines."""


class LineMatcher(SequenceMatcher[Line]):
    """A `SequenceMatcher` for lines that stays fast for long files.

    Lines, or runs of lines, that occur once on both sides are anchors (patience diff), so that long files are
    compared in nearly linear time. Short gaps between anchors are compared by difflib. Only the matching
    blocks and the opcodes are available.
    """

    def __init__(self, old: Sequence[Line], new: Sequence[Line]) -> None:
        super().__init__(None, (), ())  # difflib's index of all lines isn't needed
        self._old: Sequence[Line] = old
        self._new: Sequence[Line] = new
        self._blocks: list[Match] = []

    def get_matching_blocks(self) -> list[Match]:
        """Return the ranges of equal lines in order, none adjacent to another, then an empty one."""
        if not self._blocks:
            self._blocks = [*self._join_adjacent(), Match(len(self._old), len(self._new), 0)]
        return self._blocks

    def get_changes(self) -> list[Opcode]:
        """Return the opcodes of lines that aren't equal."""
        return [opcode for opcode in self.get_opcodes() if opcode[0] != "equal"]

    def count_changes(self) -> tuple[int, int]:
        """Return the number of added lines, and the number of removed lines."""
        common = sum(block.size for block in self.get_matching_blocks())
        return len(self._new) - common, len(self._old) - common

    def _join_adjacent(self) -> Iterator[Match]:
        last = Match(0, 0, 0)
        for block in self._match(0, len(self._old), 0, len(self._new)):
            if (last.a + last.size, last.b + last.size) == (block.a, block.b):
                last = Match(last.a, last.b, last.size + block.size)
                continue
            if last.size:
                yield last
            last = block
        if last.size:
            yield last

    def _match(self, i1: int, i2: int, j1: int, j2: int, depth: int = 0) -> Iterator[Match]:
        """Yield the equal ranges of the old lines `i1` to `i2` and the new lines `j1` to `j2`."""
        old, new = self._old, self._new
        start, least = 0, min(i2 - i1, j2 - j1)
        while start < least and old[i1 + start] == new[j1 + start]:
            start += 1
        end = 0
        while end < least - start and old[i2 - 1 - end] == new[j2 - 1 - end]:
            end += 1
        yield Match(i1, j1, start)
        yield from self._match_changed(i1 + start, i2 - end, j1 + start, j2 - end, depth)
        yield Match(i2 - end, j2 - end, end)

    def _match_changed(self, i1: int, i2: int, j1: int, j2: int, depth: int) -> Iterator[Match]:
        if i1 == i2 or j1 == j2:
            return
        if max(i2 - i1, j2 - j1) <= _MAX_DIFFLIB_LINES:
            matcher = SequenceMatcher(None, self._old[i1:i2], self._new[j1:j2], autojunk=False)
            yield from (Match(i1 + i, j1 + j, size) for i, j, size in matcher.get_matching_blocks())
        elif depth < _MAX_DEPTH:
            anchors: list[tuple[int, int]] = self._find_anchors(i1, i2, j1, j2)
            ends = [(i1 - 1, j1 - 1), *anchors, (i2, j2)] if anchors else []
            for (i, j), (next_i, next_j) in pairwise(ends):
                if (next_i - i, next_j - j) != (1, 1):
                    yield from self._match(i + 1, next_i, j + 1, next_j, depth + 1)
                yield Match(next_i, next_j, int(next_i < i2))

    def _find_anchors(self, i1: int, i2: int, j1: int, j2: int) -> list[tuple[int, int]]:
        """Return the longest ordered list of pairs of equal lines whose windows occur once on both sides."""
        for size in _WINDOWS:
            in_old = _unique_windows(self._old, i1, i2, size)
            in_new = _unique_windows(self._new, j1, j2, size)
            if pairs := [(i, in_new[window]) for window, i in in_old.items() if window in in_new]:
                return _longest_ascending(pairs)
        return []


def _longest_ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest selection of `pairs` that ascends in both numbers. They ascend in the first one."""
    tails: list[int] = []
    """For each length, the smallest second number that ends an ascending run."""
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


def _unique_windows(lines: Sequence[Line], start: int, end: int, size: int) -> dict[tuple[Line, ...], int]:
    """Return where each run of `size` lines that occurs only once starts."""
    windows = list(zip(*(lines[start + offset : end] for offset in range(size)), strict=False))
    counts = Counter(windows)
    return {window: start + at for at, window in enumerate(windows) if counts[window] == 1}
