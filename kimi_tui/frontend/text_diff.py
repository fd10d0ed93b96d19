"""Comparison of two texts: line by line with context, and word by word within changed lines."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Sign = Literal[" ", "+", "−", "⋯"]
Range = tuple[int, int]
_Opcode = tuple[str, int, int, int, int]
"""An equal or changed range: tag, start and end in the old text, start and end in the new text."""

_CONTEXT = 3
"""Number of unchanged lines shown around a change."""
_COARSE_PAIRS = 400_000
"""Number of line pairs above which matching may be coarse."""
_MAX_PAIRS = 100_000_000
"""Number of line pairs above which everything counts as changed."""
_MAX_LINE_CHARS = 400
"""Line length above which words are not compared."""
_MIN_SIMILARITY = 0.4
"""Minimum similarity of two lines for their words to be compared."""
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
    for index, group in enumerate(_group_opcodes(_opcodes(old, new))):
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
    """Return the ranges of words in `text` that `other` lacks. Empty if the lines have little in common."""
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


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[_Opcode]:
    # Skip the common prefix and suffix. Large texts are matched coarsely, and very large ones not at all.
    start = _common_prefix_length(old, new)
    end = _common_prefix_length(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    pairs = len(before) * len(after)
    opcodes: list[_Opcode] = [("equal", 0, start, 0, start)] if start else []
    if pairs > _MAX_PAIRS:
        opcodes.append(("replace", start, start + len(before), start, start + len(after)))
    else:
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=pairs > _COARSE_PAIRS)
        opcodes += [
            (tag, i1 + start, i2 + start, j1 + start, j2 + start)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        ]
    if end:
        opcodes.append(("equal", len(old) - end, len(old), len(new) - end, len(new)))
    return opcodes


def _common_prefix_length(one: Sequence[str], other: Sequence[str]) -> int:
    for index, (line, other_line) in enumerate(zip(one, other, strict=False)):
        if line != other_line:
            return index
    return min(len(one), len(other))


def _group_opcodes(opcodes: list[_Opcode]) -> Iterator[list[_Opcode]]:
    # Add context to changes. A long range of equal lines separates two groups.
    group: list[_Opcode] = []
    changed = False
    for tag, i1, i2, j1, j2 in opcodes:
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            changed = True
            continue
        lines = i2 - i1
        if changed and lines > 2 * _CONTEXT:
            yield [*group, (tag, i1, i1 + _CONTEXT, j1, j1 + _CONTEXT)]
            group, changed = [], False
        skipped = max(0, lines - _CONTEXT) if not group else 0
        group.append((tag, i1 + skipped, i2, j1 + skipped, j2))
    if changed:
        tag, i1, i2, j1, j2 = group[-1]
        length = min(i2 - i1, _CONTEXT) if tag == "equal" else i2 - i1
        group[-1] = (tag, i1, i1 + length, j1, j2 - (i2 - i1 - length))
        yield group
