"""Excerpt of changes that are too many or too long to be shown in full."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest

from kimi_tui.base.line_matcher import Opcode

_MAX_ROWS = 60
_CONTEXT_CHARS = 40
"""Characters shown before and after the changed part of a line."""
_MAX_CHANGED_CHARS = 200
"""Characters shown of the changed part of a line."""


def format_first_changes(old: Sequence[str], new: Sequence[str], changes: Iterable[Opcode]) -> list[str]:
    """Return the first changed lines with their numbers and signs. Long lines are cut around the change."""
    rows = list(islice(_format_rows(old, new, changes), _MAX_ROWS + 1))
    return [*rows[:_MAX_ROWS], "…"] if len(rows) > _MAX_ROWS else rows


def _format_rows(old: Sequence[str], new: Sequence[str], changes: Iterable[Opcode]) -> Iterator[str]:
    for _, i1, i2, j1, j2 in changes:
        for number, (before, after) in enumerate(zip_longest(old[i1:i2], new[j1:j2])):
            start, after_end = _common_ends(before, after)
            if before is not None:
                yield f"{i1 + number + 1} − {_excerpt(before.rstrip(), start, after_end)}"
            if after is not None:
                yield f"{j1 + number + 1} + {_excerpt(after.rstrip(), start, after_end)}"


def _common_ends(before: str | None, after: str | None) -> tuple[int, int]:
    """Return the length of the common prefix, and that of the common suffix of the rest."""
    if before is None or after is None:
        return 0, 0
    before, after = before.rstrip(), after.rstrip()
    start = _common_prefix_length(before, after)
    return start, _common_prefix_length(before[start:][::-1], after[start:][::-1])


def _common_prefix_length(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:  # comparing slices is much faster than comparing single characters
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _excerpt(line: str, start: int, common_suffix: int) -> str:
    first = max(start - _CONTEXT_CHARS, 0)
    last = min(len(line) - common_suffix, start + _MAX_CHANGED_CHARS) + _CONTEXT_CHARS
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"
