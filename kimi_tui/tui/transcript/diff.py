"""Diffs: what changed in a file, line by line and word by word, and how that looks."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from kimi_tui.base.terminal import revealed
from kimi_tui.tui.markdown.line import PLAIN, Ink, Line, Span, Spans, ink, span_width
from kimi_tui.tui.markdown.syntax import highlight, language_of
from kimi_tui.tui.markdown.wrap import chop
from kimi_tui.tui.transcript.comparison import DiffRow, Range, changed_words, compared
from kimi_tui.wire.display import DiffBlock

_LEAD = 24
"""Lines above a change that are read for its colours."""
_GAP = DiffRow("⋯")
_GROUNDS = {"+": "diff-added", "−": "diff-removed"}


class Diff:
    """A change of one file, compared when somebody looks."""

    def __init__(self, block: DiffBlock) -> None:
        self._block = block
        self._old, self._new = _lines_of(block.old_text), _lines_of(block.new_text)
        self.path = block.path
        self.is_summary = block.is_summary

    @cached_property
    def rows(self) -> tuple[DiffRow, ...]:
        """Changed lines with a few unchanged ones around them; `⋯` stands for what is left out."""
        if self.is_summary:
            return tuple(DiffRow(" ", text, index=index) for index, text in enumerate(self._new or self._old))
        return tuple(compared(self._old, self._new, self._block.old_start, self._block.new_start))

    @property
    def added(self) -> int:
        """Lines that are new."""
        return sum(row.sign == "+" for row in self.rows)

    @property
    def removed(self) -> int:
        """Lines that are gone."""
        return sum(row.sign == "−" for row in self.rows)

    @property
    def digits(self) -> int:
        """How wide the line numbers are."""
        return len(str(max((row.number for row in self.rows), default=1)))

    def lines(self, width: int, start: int = 0, end: int | None = None, *, digits: int = 0) -> list[Line]:
        """Rows `start` to `end` of the diff at `width` cells; numbers take `digits` cells, or enough."""
        digits = digits or self.digits
        lines: list[Line] = []
        for row, code in self.coloured(start, end):
            lines += _drawn(row, code, digits, width)
        return lines

    def coloured(self, start: int = 0, end: int | None = None) -> list[tuple[DiffRow, Spans]]:
        """Rows `start` to `end`, each with its text in the colours of its syntax."""
        rows = self.rows[start:end]
        language = "" if self.is_summary else language_of(self.path)
        old_code = _coloured(self._old, [row.index for row in rows if row.sign == "−"], language)
        new_code = _coloured(self._new, [row.index for row in rows if row.sign in "+ "], language)
        return [
            (row, (old_code if row.sign == "−" else new_code).get(row.index) or ((row.text, PLAIN),))
            for row in rows
        ]

    def unified(self) -> str:
        """The diff as text, for a copy."""
        signs = {" ": " ", "+": "+", "−": "-", "⋯": "@@"}
        return "\n".join(
            [
                f"--- {self.path}",
                f"+++ {self.path}",
                *(f"{signs[row.sign]}{row.text}" for row in self.rows),
            ]
        )


def _coloured(lines: list[str], wanted: list[int], language: str) -> dict[int, Spans]:
    # The wanted lines in colour, read from somewhat above: a string or comment may begin there.
    coloured: dict[int, Spans] = {}
    for first, last in _stretches(wanted):
        above = max(0, first - _LEAD)
        coloured.update(enumerate(highlight("\n".join(lines[above : last + 1]), language), above))
    return coloured


def _stretches(numbers: list[int]) -> list[Range]:
    # Ascending numbers as first and last of those that are near each other.
    stretches: list[Range] = []
    for number in numbers:
        if stretches and number - stretches[-1][1] <= _LEAD:
            stretches[-1] = (stretches[-1][0], number)
        else:
            stretches.append((number, number))
    return stretches


class FileDiff:
    """All changes of one file: hunks below each other."""

    def __init__(self, blocks: Sequence[DiffBlock]) -> None:
        self.hunks = tuple(Diff(block) for block in blocks)

    @cached_property
    def row_count(self) -> int:
        """Rows of all hunks, and one between each two."""
        return sum(len(hunk.rows) for hunk in self.hunks) + len(self.hunks) - 1

    def lines(self, width: int, start: int, end: int) -> list[Line]:
        """Rows `start` to `end` at `width` cells."""
        digits = max(hunk.digits for hunk in self.hunks)
        lines: list[Line] = []
        position = 0
        for number, hunk in enumerate(self.hunks):
            if number:
                lines += _drawn(_GAP, (), digits, width) if start <= position < end else []
                position += 1
            first, last = max(0, start - position), min(len(hunk.rows), end - position)
            lines += hunk.lines(width, first, last, digits=digits) if first < last else []
            position += len(hunk.rows)
        return lines


def _lines_of(text: str) -> list[str]:
    return revealed(text).expandtabs(4).removesuffix("\n").split("\n") if text else []


def _drawn(row: DiffRow, code: Spans, digits: int, width: int) -> list[Line]:
    if row.sign == "⋯":
        return [Line(((f"{'⋯':>{digits}}", ink("diff-number")),))]
    fill = ground_of(row)
    number = f"{row.number:>{digits}} " if row.number else ""
    head: Spans = ((number, _over(ink("diff-number"), row)), (f"{row.sign} ", fill))
    blank: Spans = ((" " * span_width(head), fill),)
    grounded = grounded_code(row, code)
    lines: list[Line] = []
    for index, spans in enumerate(chop(grounded, max(4, width - span_width(head)))):
        prefix = blank if index else head
        margin = sum(len(text) for text, _ in prefix)
        lines.append(Line((*prefix, *spans), "" if index else "\n", margin if index else len(number), fill))
    return lines


def ground_of(row: DiffRow) -> Ink:
    """What a row stands on."""
    ground = _GROUNDS.get(row.sign)
    return ink(ground) if ground else PLAIN


def grounded_code(row: DiffRow, code: Spans) -> list[Span]:
    """The row's code on its ground, the words that changed marked."""
    grounded = [(text, _over(style, row)) for text, style in code]
    if row.partner is None:
        return grounded
    return _marked(grounded, changed_words(row.text, row.partner), f"{_GROUNDS[row.sign]}-word")


def _over(style: Ink, row: DiffRow) -> Ink:
    ground = _GROUNDS.get(row.sign)
    return style.under(ground) if ground else style


def _marked(spans: list[Span], ranges: tuple[Range, ...], role: str) -> list[Span]:
    # The spans again, cut at the borders of the ranges, those within them with `role` on top.
    if not ranges:
        return spans
    marked: list[Span] = []
    position = 0
    for text, style in spans:
        end = position + len(text)
        borders = {position, end}
        borders.update(border for pair in ranges for border in pair if position < border < end)
        cuts = sorted(borders)
        for start, stop in pairwise(cuts):
            inside = any(first <= start < last for first, last in ranges)
            marked.append((text[start - position : stop - position], style.plus(role) if inside else style))
        position = end
    return marked
