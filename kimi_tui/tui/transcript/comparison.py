"""Comparing two texts: line by line, with context around changes, and word by word within a line."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Sign = Literal[" ", "+", "−", "⋯"]
Range = tuple[int, int]
_Opcode = tuple[str, int, int, int, int]
"""A stretch that is equal or not: tag, lines of the old text, lines of the new one."""

_CONTEXT = 3
"""Unchanged lines shown around a change."""
_MANY_PAIRS = 400_000
"""Pairs of lines beyond which matching is allowed to be coarse."""
_TOO_MANY_PAIRS = 100_000_000
"""Pairs of lines beyond which everything counts as changed."""
_LONG_LINE = 400
"""Characters beyond which the words of a line are not compared."""
_ALIKE = 0.4
"""Share of two lines that must agree for their words to be compared."""
_WORD = re.compile(r"\w+|\s+|.")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff."""

    sign: Sign
    text: str = ""
    number: int = 0
    """The line's in its file, from 1."""
    index: int = 0
    """The line's in the text that was compared, from 0."""
    old_number: int = 0
    """An unchanged line's in the old file, from 1."""
    partner: str | None = None
    """What a changed line was before, or is now."""


def compared(
    old: Sequence[str], new: Sequence[str], old_start: int = 1, new_start: int = 1
) -> Iterator[DiffRow]:
    """The rows of a diff: changes, a few lines around them, and `⋯` for what is left out between."""
    for index, group in enumerate(_groups(_opcodes(old, new))):
        if index:
            yield DiffRow("⋯")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for j in range(j1, j2):
                    yield DiffRow(" ", new[j], new_start + j, j, old_start + i1 + j - j1)
                continue
            for i in range(i1, i2):
                partner = new[j1 + i - i1] if j1 + i - i1 < j2 else None
                yield DiffRow("−", old[i], old_start + i, i, partner=partner)
            for j in range(j1, j2):
                partner = old[i1 + j - j1] if i1 + j - j1 < i2 else None
                yield DiffRow("+", new[j], new_start + j, j, partner=partner)


def changed_words(text: str, other: str) -> tuple[Range, ...]:
    """Where the words of `text` stand that the other line lacks; none if the two have little in common."""
    if max(len(text), len(other)) > _LONG_LINE:
        return ()
    words = _WORD.findall(text)
    matcher = difflib.SequenceMatcher(None, words, _WORD.findall(other), autojunk=False)
    if matcher.ratio() < _ALIKE:
        return ()
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal" and code[2] > code[1]]
    return tuple(_characters(words, start, end) for _, start, end, _, _ in changes)


def _characters(words: list[str], start: int, end: int) -> Range:
    before = sum(map(len, words[:start]))
    return before, before + sum(map(len, words[start:end]))


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[_Opcode]:
    # What both texts begin and end with needs no search; beyond some size the search gets coarse, then ends.
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    pairs = len(before) * len(after)
    opcodes: list[_Opcode] = [("equal", 0, start, 0, start)] if start else []
    if pairs > _TOO_MANY_PAIRS:
        opcodes.append(("replace", start, start + len(before), start, start + len(after)))
    else:
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=pairs > _MANY_PAIRS)
        opcodes += [
            (tag, i1 + start, i2 + start, j1 + start, j2 + start)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        ]
    if end:
        opcodes.append(("equal", len(old) - end, len(old), len(new) - end, len(new)))
    return opcodes


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    for index, (line, other_line) in enumerate(zip(one, other, strict=False)):
        if line != other_line:
            return index
    return min(len(one), len(other))


def _groups(opcodes: list[_Opcode]) -> Iterator[list[_Opcode]]:
    # Changes with their context; a longer stretch of equal lines parts two groups.
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
        kept = min(i2 - i1, _CONTEXT) if tag == "equal" else i2 - i1
        group[-1] = (tag, i1, i1 + kept, j1, j2 - (i2 - i1 - kept))
        yield group
