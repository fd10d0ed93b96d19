"""Comparison of two texts: line by line with context, and word by word within changed lines."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kimi_tui.base.line_matcher import LineMatcher

Sign = Literal[" ", "+", "−", "⋯"]
Range = tuple[int, int]

_CONTEXT = 3
"""Number of unchanged lines shown around a change."""
_MAX_LINE_CHARS = 400
"""Length in characters above which the words of a line aren't compared."""
_MIN_SIMILARITY = 0.4
"""Minimum similarity (0 to 1) of two lines whose words are compared."""
_WORD = re.compile(r"\w+|\s+|.")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff."""

    sign: Sign
    text: str = ""
    number: int = 0
    """Line number in its file, from 1."""
    index: int = 0
    """Line index in the compared text, from 0."""
    old_number: int = 0
    """Line number of an unchanged line in the old file, from 1."""
    counterpart: str | None = None
    """The other version of a changed line."""


def diff_rows(
    old: Sequence[str], new: Sequence[str], old_start: int = 1, new_start: int = 1
) -> Iterator[DiffRow]:
    """Yield the rows of a diff: changes with context, and `⋯` for omitted lines."""
    for index, group in enumerate(LineMatcher(old, new).get_grouped_opcodes(_CONTEXT)):
        if index:
            yield DiffRow("⋯")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for j in range(j1, j2):
                    yield DiffRow(" ", new[j], new_start + j, j, old_start + i1 + j - j1)
                continue
            for i in range(i1, i2):
                partner = new[j1 + i - i1] if j1 + i - i1 < j2 else None
                yield DiffRow("−", old[i], old_start + i, i, counterpart=partner)
            for j in range(j1, j2):
                partner = old[i1 + j - j1] if i1 + j - j1 < i2 else None
                yield DiffRow("+", new[j], new_start + j, j, counterpart=partner)


def find_changed_words(text: str, other: str) -> tuple[Range, ...]:
    """Return the character ranges of words in `text` that `other` lacks.

    Empty if the lines are too long or too different.
    """
    if max(len(text), len(other)) > _MAX_LINE_CHARS:
        return ()
    words = _WORD.findall(text)
    matcher = difflib.SequenceMatcher(None, words, _WORD.findall(other), autojunk=False)
    if matcher.ratio() < _MIN_SIMILARITY:
        return ()
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal" and code[2] > code[1]]
    return tuple(_character_range(words, start, end) for _, start, end, _, _ in changes)


def _character_range(words: list[str], start: int, end: int) -> Range:
    before = sum(map(len, words[:start]))
    return before, before + sum(map(len, words[start:end]))
