"""Table layout: column widths and rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.tui.markdown.styled_line import Span, Spans, StyledLine, span_width, text_style
from kimi_tui.tui.markdown.wrap import wrap

Alignment = Literal["left", "center", "right"]
Cell = list[Span]

_RULE = text_style("table-rule")
_MIN_COLUMN_WIDTH = 6
"""Minimum cells per column. A table that would need narrower columns is shown as a list of records."""


@dataclass(slots=True)
class MarkdownTable:
    """Cells of a table, header first."""

    alignments: list[Alignment] = field(default_factory=list)
    header: list[Cell] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)


def natural_widths(table: MarkdownTable) -> list[int]:
    """Return the width of each column without wrapping, in cells."""
    widths = [1] * len(table.header)
    for row in (table.header, *table.rows):
        for index, cell in enumerate(row[: len(widths)]):
            widths[index] = max(widths[index], span_width(cell))
    return widths


def table_lines(
    table: MarkdownTable, width: int, *, widths: Sequence[int] = (), omit_header: bool = False
) -> list[StyledLine]:
    """Return `table` as rows of at most `width` cells.

    For a table that continues another, `widths` gives the natural column widths to use, and `omit_header`
    leaves out the header.
    """
    columns = _fit_columns(list(widths) or natural_widths(table), width)
    if columns is None:
        return _render_records(table, width)
    lines: list[StyledLine] = []
    if not omit_header:
        lines += _render_row(
            [[(text, style.with_role("table-head")) for text, style in cell] for cell in table.header],
            table,
            columns,
        )
        lines.append(_separator(columns))
    for row in table.rows:
        lines += _render_row(row, table, columns)
    return lines


def _fit_columns(natural: list[int], width: int) -> list[int] | None:
    # Narrow columns get their natural width; the others share the rest evenly.
    room = width - 3 * (len(natural) - 1)
    if sum(natural) <= room:
        return natural
    fitted = [0] * len(natural)
    by_width = sorted(range(len(natural)), key=lambda index: natural[index])
    for index_in_order, index in enumerate(by_width):
        share = max(room, 0) // (len(by_width) - index_in_order)
        fitted[index] = min(natural[index], share)
        room -= fitted[index]
    return fitted if all(fitted[i] >= min(natural[i], _MIN_COLUMN_WIDTH) for i in by_width) else None


def _render_row(cells: list[Cell], table: MarkdownTable, columns: list[int]) -> list[StyledLine]:
    wrapped = [
        wrap(cells[index] if index < len(cells) else [], column) for index, column in enumerate(columns)
    ]
    lines: list[StyledLine] = []
    for number in range(max(map(len, wrapped))):
        spans: list[Span] = []
        for index, column in enumerate(columns):
            content: Spans = wrapped[index][number].spans if number < len(wrapped[index]) else ()
            spans += _align(content, column, table.alignments[index], last=index == len(columns) - 1)
            if index < len(columns) - 1:
                spans.append((" │ ", _RULE))
        lines.append(StyledLine(tuple(spans)))
    return lines


def _align(content: Spans, column: int, alignment: Alignment, *, last: bool) -> list[Span]:
    padding = max(0, column - span_width(content))
    before = {"left": 0, "center": padding // 2, "right": padding}[alignment]
    after = 0 if last else padding - before
    blank = text_style()
    return [
        *([(" " * before, blank)] if before else []),
        *content,
        *([(" " * after, blank)] if after else []),
    ]


def _separator(columns: list[int]) -> StyledLine:
    return StyledLine((("─┼─".join("─" * column for column in columns), _RULE),))


def _render_records(table: MarkdownTable, width: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for number, row in enumerate(table.rows):
        if number:
            lines.append(StyledLine((("╌" * min(width, 12), _RULE),)))
        for index, cell in enumerate(row):
            title = [(text, style.with_role("table-head")) for text, style in table.header[index]]
            lines += wrap([*title, (": ", text_style("dim")), *cell], width, rest=(("  ", text_style()),))
    return lines
