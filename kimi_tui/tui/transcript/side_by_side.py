"""A diff in two columns: what was on the left, what comes on the right."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from kimi_tui.tui.markdown.line import PLAIN, Line, Span, Spans, ink, span_width
from kimi_tui.tui.markdown.wrap import chop
from kimi_tui.tui.transcript.comparison import DiffRow
from kimi_tui.tui.transcript.diff import Diff, ground_of, grounded_code

WIDE = 120
"""Cells from which on two columns are read more easily than one."""
_BORDER: Span = (" │ ", ink("guide"))

_Coloured = tuple[DiffRow, Spans]


def reads_well_side_by_side(diff: Diff) -> bool:
    """Whether there is something on both sides."""
    return not diff.is_summary and any(row.sign in "− " for row in diff.rows)


def side_by_side(diff: Diff, width: int) -> list[Line]:
    """The diff in `width` cells; lines too long for their column go on in the next row."""
    left = (width - span_width([_BORDER])) // 2
    right = width - left - span_width([_BORDER])
    lines: list[Line] = []
    for old, new in _pairs(diff.coloured()):
        columns = _column(old, left, diff.digits, is_old=True), _column(new, right, diff.digits, is_old=False)
        blank: Spans = ((" " * left, PLAIN if old is None else ground_of(old[0])),)
        for number, (one, other) in enumerate(zip_longest(*columns)):
            fill = PLAIN if new is None else ground_of(new[0])
            spans = (*(one or blank), _BORDER, *(other or ()))
            lines.append(Line(spans, "" if number else "\n", fill=fill))
    return lines


def _pairs(rows: Sequence[_Coloured]) -> Iterator[tuple[_Coloured | None, _Coloured | None]]:
    # Lines that were taken away beside those that came in their place.
    gone: list[_Coloured] = []
    come: list[_Coloured] = []
    for coloured in rows:
        match coloured[0].sign:
            case "−":
                if come:
                    yield from zip_longest(gone, come)
                    gone, come = [], []
                gone.append(coloured)
            case "+":
                come.append(coloured)
            case _:
                yield from zip_longest(gone, come)
                gone, come = [], []
                yield coloured, coloured
    yield from zip_longest(gone, come)


def _column(coloured: _Coloured | None, width: int, digits: int, *, is_old: bool) -> list[Spans]:
    if coloured is None:
        return []
    row, code = coloured
    ground = ground_of(row)
    if row.sign == "⋯":
        return [_padded(((f"{'⋯':>{digits}}", ink("diff-number")),), width)]
    number = row.old_number if is_old and row.old_number else row.number
    style = ink("diff-number").under(ground.roles[0]) if ground.roles else ink("diff-number")
    head: Spans = ((f"{number:>{digits}} ", style), (f"{row.sign} ", ground))
    rest: Spans = ((" " * span_width(head), ground),)
    pieces = chop(grounded_code(row, code), max(4, width - span_width(head)))
    return [_padded((*(rest if at else head), *spans), width) for at, spans in enumerate(pieces)]


def _padded(spans: Spans, width: int) -> Spans:
    style = spans[0][1] if len(spans) == 1 else spans[1][1]
    ground = ink(*(role for role in style.roles if role in ("diff-added", "diff-removed")))
    return (*spans, (" " * max(0, width - span_width(spans)), ground))
