"""Side-by-side diff: old lines on the left, new lines on the right."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from kimi_tui.frontend.text_diff import DiffRow
from kimi_tui.tui.markdown.styled_line import PLAIN, Span, Spans, StyledLine, span_width, text_style
from kimi_tui.tui.markdown.wrap import chop
from kimi_tui.tui.transcript.diff_view import Diff, background_of, highlight_changes

MIN_SIDE_BY_SIDE_WIDTH = 120
"""Minimum cells for two columns."""
_BORDER: Span = (" │ ", text_style("guide"))

_HighlightedRow = tuple[DiffRow, Spans]


def can_show_side_by_side(diff: Diff) -> bool:
    """Return whether the diff has lines for both columns."""
    return not diff.is_summary and any(row.sign in "− " for row in diff.rows)


def render_side_by_side(diff: Diff, width: int) -> list[StyledLine]:
    """Return the diff at `width` cells. Lines that are too long for their column wrap."""
    return [line for _, _, lines in side_by_side_rows(diff, width) for line in lines]


def side_by_side_rows(
    diff: Diff, width: int, *, digits: int = 0
) -> Iterator[tuple[DiffRow | None, DiffRow | None, list[StyledLine]]]:
    """Yield the pairs of an old and a new row, each with its lines at `width` cells."""
    digits = digits or diff.digits
    left = (width - span_width([_BORDER])) // 2
    right = width - left - span_width([_BORDER])
    for old, new in _pair_rows(diff.highlight_rows()):
        columns = (
            _render_column(old, left, digits, is_old=True),
            _render_column(new, right, digits, is_old=False),
        )
        blank: Spans = ((" " * left, PLAIN if old is None else background_of(old[0])),)
        lines: list[StyledLine] = []
        for number, (left_row, right_row) in enumerate(zip_longest(*columns)):
            fill = PLAIN if new is None else background_of(new[0])
            spans = (*(left_row or blank), _BORDER, *(right_row or ()))
            lines.append(StyledLine(spans, "" if number else "\n", fill=fill))
        yield old[0] if old is not None else None, new[0] if new is not None else None, lines


def _pair_rows(
    rows: Sequence[_HighlightedRow],
) -> Iterator[tuple[_HighlightedRow | None, _HighlightedRow | None]]:
    # Pair removed lines with the added lines that replace them.
    removed: list[_HighlightedRow] = []
    added: list[_HighlightedRow] = []
    for highlighted in rows:
        match highlighted[0].sign:
            case "−":
                if added:
                    yield from zip_longest(removed, added)
                    removed, added = [], []
                removed.append(highlighted)
            case "+":
                added.append(highlighted)
            case _:
                yield from zip_longest(removed, added)
                removed, added = [], []
                yield highlighted, highlighted
    yield from zip_longest(removed, added)


def _render_column(
    highlighted: _HighlightedRow | None, width: int, digits: int, *, is_old: bool
) -> list[Spans]:
    if highlighted is None:
        return []
    row, code = highlighted
    background = background_of(row)
    if row.sign == "⋯":
        return [_pad_spans(((f"{'⋯':>{digits}}", text_style("diff-number")),), width)]
    number = row.old_number if is_old and row.old_number else row.number
    style = (
        text_style("diff-number").with_base_role(background.roles[0])
        if background.roles
        else text_style("diff-number")
    )
    head: Spans = ((f"{number:>{digits}} ", style), (f"{row.sign} ", background))
    rest: Spans = ((" " * span_width(head), background),)
    pieces = chop(highlight_changes(row, code), max(4, width - span_width(head)))
    return [_pad_spans((*(rest if index else head), *spans), width) for index, spans in enumerate(pieces)]


def _pad_spans(spans: Spans, width: int) -> Spans:
    style = spans[0][1] if len(spans) == 1 else spans[1][1]
    background = text_style(*(role for role in style.roles if role in ("diff-added", "diff-removed")))
    return (*spans, (" " * max(0, width - span_width(spans)), background))
