"""Diffs: what changed in a file, line by line and word by word, and how that looks."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from kimi_tui.base.terminal import plain
from kimi_tui.tui.markdown.line import PLAIN, Ink, Line, Span, Spans, ink, span_width
from kimi_tui.tui.markdown.syntax import highlight, language_of
from kimi_tui.tui.markdown.wrap import chop
from kimi_tui.wire.display import DiffBlock

Sign = Literal[" ", "+", "−", "⋯"]

_CONTEXT = 3
"""Unchanged lines shown around a change."""
_MANY_LINES = 3_000
"""Lines beyond which matching is allowed to be coarse."""
_LONG_LINE = 400
"""Characters beyond which the words of a line are not compared."""
_ALIKE = 0.4
"""Share of two lines that must agree for their words to be compared."""
_WORD = re.compile(r"\w+|\s+|.")
_GROUNDS = {"+": "diff-added", "−": "diff-removed"}

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff. `number` is the line's in the file it is from; `changed` are character ranges."""

    sign: Sign
    number: int
    text: str
    code: Spans = ()
    changed: tuple[Range, ...] = ()


class Diff:
    """A change of one file, compared when somebody looks."""

    def __init__(self, block: DiffBlock) -> None:
        self._block = block
        self.path = block.path
        self.is_summary = block.is_summary

    @cached_property
    def rows(self) -> tuple[DiffRow, ...]:
        """Changed lines with a few unchanged ones around them; `⋯` stands for what is left out."""
        return tuple(_rows(self._block))

    @property
    def added(self) -> int:
        """Lines that are new."""
        return sum(row.sign == "+" for row in self.rows)

    @property
    def removed(self) -> int:
        """Lines that are gone."""
        return sum(row.sign == "−" for row in self.rows)

    def lines(self, width: int, start: int = 0, end: int | None = None) -> list[Line]:
        """Rows `start` to `end` of the diff at `width` cells."""
        digits = len(str(max((row.number for row in self.rows), default=1)))
        lines: list[Line] = []
        for row in self.rows[start:end]:
            lines += _drawn(row, digits, width)
        return lines

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


def _rows(block: DiffBlock) -> Iterator[DiffRow]:
    old, new = _lines_of(block.old_text), _lines_of(block.new_text)
    if block.is_summary:
        for text in (*old, *new):
            yield DiffRow(" ", 0, text, ((text, PLAIN),))
        return
    language = language_of(block.path)
    old_code, new_code = highlight("\n".join(old), language), highlight("\n".join(new), language)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > _MANY_LINES)
    for index, group in enumerate(matcher.get_grouped_opcodes(_CONTEXT)):
        if index:
            yield DiffRow("⋯", 0, "")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for j in range(j1, j2):
                    yield DiffRow(" ", block.new_start + j, new[j], new_code[j])
                continue
            marks = _changed_words(old[i1:i2], new[j1:j2])
            for i in range(i1, i2):
                yield DiffRow("−", block.old_start + i, old[i], old_code[i], marks[0][i - i1])
            for j in range(j1, j2):
                yield DiffRow("+", block.new_start + j, new[j], new_code[j], marks[1][j - j1])


def _lines_of(text: str) -> list[str]:
    return plain(text).expandtabs(4).removesuffix("\n").split("\n") if text else []


def _changed_words(old: list[str], new: list[str]) -> tuple[list[tuple[Range, ...]], list[tuple[Range, ...]]]:
    removed: list[tuple[Range, ...]] = [()] * len(old)
    added: list[tuple[Range, ...]] = [()] * len(new)
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        if max(len(before), len(after)) > _LONG_LINE:
            continue
        words_before, words_after = _WORD.findall(before), _WORD.findall(after)
        matcher = difflib.SequenceMatcher(None, words_before, words_after, autojunk=False)
        if matcher.ratio() < _ALIKE:
            continue
        opcodes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
        removed[index] = tuple(_characters(words_before, i1, i2) for _, i1, i2, _, _ in opcodes if i2 > i1)
        added[index] = tuple(_characters(words_after, j1, j2) for _, _, _, j1, j2 in opcodes if j2 > j1)
    return removed, added


def _characters(words: list[str], start: int, end: int) -> Range:
    before = sum(map(len, words[:start]))
    return before, before + sum(map(len, words[start:end]))


def _drawn(row: DiffRow, digits: int, width: int) -> list[Line]:
    if row.sign == "⋯":
        return [Line(((f"{'⋯':>{digits}}", ink("diff-number")),))]
    ground = _GROUNDS.get(row.sign)
    fill = ink(ground) if ground else PLAIN
    number = f"{row.number:>{digits}} " if row.number else ""
    head: Spans = ((number, _over(ink("diff-number"), ground)), (f"{row.sign} ", fill))
    blank: Spans = ((" " * span_width(head), fill),)
    code = _marked([(text, _over(style, ground)) for text, style in row.code], row.changed, f"{ground}-word")
    lines: list[Line] = []
    for index, spans in enumerate(chop(code, max(4, width - span_width(head)))):
        prefix = blank if index else head
        margin = sum(len(text) for text, _ in prefix)
        lines.append(Line((*prefix, *spans), "" if index else "\n", margin if index else len(number), fill))
    return lines


def _over(style: Ink, ground: str | None) -> Ink:
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
