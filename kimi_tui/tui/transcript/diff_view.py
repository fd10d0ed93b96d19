"""Diff rendering: changed lines of a file with changed words marked."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from kimi_tui.base.terminal_text import show_invisible
from kimi_tui.frontend.text_diff import DiffRow, Range, diff_rows, find_changed_words
from kimi_tui.tui.markdown.styled_line import (
    PLAIN,
    Span,
    Spans,
    StyledLine,
    TextStyle,
    span_width,
    text_style,
)
from kimi_tui.tui.markdown.syntax import highlight, language_of
from kimi_tui.tui.markdown.wrap import chop
from kimi_tui.wire.display_blocks import DiffBlock

_LEAD_LINES = 24
"""Number of lines above a change that are highlighted together with the change, for correct colors."""
_GAP_ROW = DiffRow("⋯")
_BACKGROUNDS = {"+": "diff-added", "−": "diff-removed"}


class Diff:
    """Change of one file, compared on first use."""

    def __init__(self, block: DiffBlock) -> None:
        self._block = block
        self._old, self._new = _split_lines(block.old_text), _split_lines(block.new_text)
        self.path = block.path
        self.is_summary = block.is_summary

    @cached_property
    def rows(self) -> tuple[DiffRow, ...]:
        """Changed lines with a few lines of context; `⋯` marks omitted lines."""
        if self.is_summary:
            return tuple(DiffRow(" ", text, index=index) for index, text in enumerate(self._new or self._old))
        return tuple(diff_rows(self._old, self._new, self._block.old_start, self._block.new_start))

    @property
    def added_count(self) -> int:
        """Number of added lines."""
        return sum(row.sign == "+" for row in self.rows)

    @property
    def removed_count(self) -> int:
        """Number of removed lines."""
        return sum(row.sign == "−" for row in self.rows)

    @property
    def digits(self) -> int:
        """Width of the line numbers."""
        return len(str(max((row.number for row in self.rows), default=1)))

    def lines(
        self, width: int, start: int = 0, end: int | None = None, *, digits: int = 0
    ) -> list[StyledLine]:
        """Return rows `start` to `end` at `width` cells. `digits` is the width of the line numbers. 0 is the
        width of the longest number.
        """
        digits = digits or self.digits
        lines: list[StyledLine] = []
        for row, code in self.highlight_rows(start, end):
            lines += render_row(row, code, digits, width)
        return lines

    def highlight_rows(self, start: int = 0, end: int | None = None) -> list[tuple[DiffRow, Spans]]:
        """Return rows `start` to `end`, each with its highlighted text."""
        rows = self.rows[start:end]
        language = "" if self.is_summary else language_of(self.path)
        old_code = _highlight_lines(self._old, [row.index for row in rows if row.sign == "−"], language)
        new_code = _highlight_lines(self._new, [row.index for row in rows if row.sign in "+ "], language)
        return [
            (row, (old_code if row.sign == "−" else new_code).get(row.index) or ((row.text, PLAIN),))
            for row in rows
        ]

    def to_unified(self) -> str:
        """Return the diff as text to copy."""
        signs = {" ": " ", "+": "+", "−": "-", "⋯": "@@"}
        return "\n".join(
            [
                f"--- {self.path}",
                f"+++ {self.path}",
                *(f"{signs[row.sign]}{row.text}" for row in self.rows),
            ]
        )


def _highlight_lines(lines: list[str], indexes: list[int], language: str) -> dict[int, Spans]:
    # Start some lines above, where a string or comment may begin.
    highlighted: dict[int, Spans] = {}
    for first, last in _merge_ranges(indexes):
        start = max(0, first - _LEAD_LINES)
        highlighted.update(enumerate(highlight("\n".join(lines[start : last + 1]), language), start))
    return highlighted


def _merge_ranges(numbers: list[int]) -> list[Range]:
    # Group ascending numbers that are close together into (first, last) ranges.
    ranges: list[Range] = []
    for number in numbers:
        if ranges and number - ranges[-1][1] <= _LEAD_LINES:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


class RenderedDiff:
    """All hunks of one file."""

    def __init__(self, blocks: Sequence[DiffBlock]) -> None:
        self.hunks = tuple(Diff(block) for block in blocks)

    @cached_property
    def row_count(self) -> int:
        """Rows of all hunks and the gaps between them."""
        return sum(len(hunk.rows) for hunk in self.hunks) + len(self.hunks) - 1

    def lines(self, width: int, start: int, end: int) -> list[StyledLine]:
        """Return rows `start` to `end` at `width` cells."""
        digits = max(hunk.digits for hunk in self.hunks)
        lines: list[StyledLine] = []
        position = 0
        for number, hunk in enumerate(self.hunks):
            if number:
                lines += render_row(_GAP_ROW, (), digits, width) if start <= position < end else []
                position += 1
            first, last = max(0, start - position), min(len(hunk.rows), end - position)
            lines += hunk.lines(width, first, last, digits=digits) if first < last else []
            position += len(hunk.rows)
        return lines


def _split_lines(text: str) -> list[str]:
    return show_invisible(text).expandtabs(4).removesuffix("\n").split("\n") if text else []


def render_row(row: DiffRow, code: Spans, digits: int, width: int) -> list[StyledLine]:
    """Return the lines of a row with its highlighted text. `digits` is the width of the line number."""
    if row.sign == "⋯":
        return [StyledLine(((f"{'⋯':>{digits}}", text_style("diff-number")),))]
    fill = background_of(row)
    number = f"{row.number:>{digits}} " if row.number else ""
    head: Spans = ((number, _with_background(text_style("diff-number"), row)), (f"{row.sign} ", fill))
    blank: Spans = ((" " * span_width(head), fill),)
    highlighted = highlight_changes(row, code)
    lines: list[StyledLine] = []
    for index, spans in enumerate(chop(highlighted, max(4, width - span_width(head)))):
        prefix = blank if index else head
        margin = sum(len(text) for text, _ in prefix)
        lines.append(
            StyledLine((*prefix, *spans), "" if index else "\n", margin if index else len(number), fill)
        )
    return lines


def background_of(row: DiffRow) -> TextStyle:
    """Return the style of a row's background."""
    role = _BACKGROUNDS.get(row.sign)
    return text_style(role) if role else PLAIN


def highlight_changes(row: DiffRow, code: Spans) -> list[Span]:
    """Return the row's code on its background, with changed words marked."""
    highlighted = [(text, _with_background(style, row)) for text, style in code]
    if row.counterpart is None:
        return highlighted
    return _emphasize(
        highlighted, find_changed_words(row.text, row.counterpart), f"{_BACKGROUNDS[row.sign]}-word"
    )


def _with_background(style: TextStyle, row: DiffRow) -> TextStyle:
    role = _BACKGROUNDS.get(row.sign)
    return style.with_base_role(role) if role else style


def _emphasize(spans: list[Span], ranges: tuple[Range, ...], role: str) -> list[Span]:
    # Split the spans at the range boundaries and add `role` to those within a range.
    if not ranges:
        return spans
    emphasized: list[Span] = []
    position = 0
    for text, style in spans:
        end = position + len(text)
        boundaries = {position, end}
        boundaries.update(boundary for changed in ranges for boundary in changed if position < boundary < end)
        cuts = sorted(boundaries)
        for start, stop in pairwise(cuts):
            inside = any(first <= start < last for first, last in ranges)
            emphasized.append(
                (text[start - position : stop - position], style.with_role(role) if inside else style)
            )
        position = end
    return emphasized
