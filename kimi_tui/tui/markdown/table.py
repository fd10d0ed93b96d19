"""Tables: column widths and rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.tui.markdown.line import Line, Span, Spans, ink, span_width
from kimi_tui.tui.markdown.wrap import wrap

Alignment = Literal["left", "center", "right"]
Cell = list[Span]

_RULE = ink("table-rule")
_NARROWEST = 6
"""Cells; a table whose columns would get less is shown as a list of records."""


@dataclass(slots=True)
class Table:
    """The cells of a table, header first."""

    alignments: list[Alignment] = field(default_factory=list)
    header: list[Cell] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)


def natural_widths(table: Table) -> list[int]:
    """How wide each column would be without any wrapping."""
    widths = [1] * len(table.header)
    for row in (table.header, *table.rows):
        for index, cell in enumerate(row[: len(widths)]):
            widths[index] = max(widths[index], span_width(cell))
    return widths


def table_lines(
    table: Table, width: int, *, widths: Sequence[int] = (), headless: bool = False
) -> list[Line]:
    """`table` as rows of at most `width` cells.

    `widths` are natural widths to lay it out with instead of its own; `headless` leaves the header out:
    both for a table that continues another.
    """
    columns = _fitted(list(widths) or natural_widths(table), width)
    if columns is None:
        return _records(table, width)
    lines: list[Line] = []
    if not headless:
        lines += _row(
            [[(text, style.plus("table-head")) for text, style in cell] for cell in table.header],
            table,
            columns,
        )
        lines.append(_separator(columns))
    for row in table.rows:
        lines += _row(row, table, columns)
    return lines


def _fitted(natural: list[int], width: int) -> list[int] | None:
    # Narrow columns keep what they need; the others share the rest evenly.
    room = width - 3 * (len(natural) - 1)
    if sum(natural) <= room:
        return natural
    fitted = [0] * len(natural)
    left = sorted(range(len(natural)), key=lambda index: natural[index])
    for done, index in enumerate(left):
        fair = max(room, 0) // (len(left) - done)
        fitted[index] = min(natural[index], fair)
        room -= fitted[index]
    return fitted if all(fitted[i] >= min(natural[i], _NARROWEST) for i in left) else None


def _row(cells: list[Cell], table: Table, columns: list[int]) -> list[Line]:
    wrapped = [
        wrap(cells[index] if index < len(cells) else [], column) for index, column in enumerate(columns)
    ]
    lines: list[Line] = []
    for number in range(max(map(len, wrapped))):
        spans: list[Span] = []
        for index, column in enumerate(columns):
            content: Spans = wrapped[index][number].spans if number < len(wrapped[index]) else ()
            spans += _aligned(content, column, table.alignments[index], last=index == len(columns) - 1)
            if index < len(columns) - 1:
                spans.append((" │ ", _RULE))
        lines.append(Line(tuple(spans)))
    return lines


def _aligned(content: Spans, column: int, alignment: Alignment, *, last: bool) -> list[Span]:
    space = max(0, column - span_width(content))
    before = {"left": 0, "center": space // 2, "right": space}[alignment]
    after = 0 if last else space - before
    blank = ink()
    return [
        *([(" " * before, blank)] if before else []),
        *content,
        *([(" " * after, blank)] if after else []),
    ]


def _separator(columns: list[int]) -> Line:
    return Line((("─┼─".join("─" * column for column in columns), _RULE),))


def _records(table: Table, width: int) -> list[Line]:
    lines: list[Line] = []
    for number, row in enumerate(table.rows):
        if number:
            lines.append(Line((("╌" * min(width, 12), _RULE),)))
        for index, cell in enumerate(row):
            title = [(text, style.plus("table-head")) for text, style in table.header[index]]
            lines += wrap([*title, (": ", ink("dim")), *cell], width, rest=(("  ", ink()),))
    return lines
