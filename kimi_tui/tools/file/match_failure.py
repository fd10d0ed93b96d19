"""Explains why a text to be replaced wasn't found, so that the model can correct it."""

import re
from difflib import get_close_matches

from kimi_tui.tools.file.text_document import replace_surrogates

_NUMBERED = re.compile(r"\s*\d+\t")
_MAX_COMPARED_LINES = 20_000
_MAX_COMPARED_CHARS = 400
_MIN_DISTINCTIVE_CHARS = 16
_MAX_QUOTED_LINES = 12
_MAX_QUOTED_CHARS = 300


def explain_no_match(text: str, old: str, new: str, *, may_quote: bool) -> str:
    """Return the likeliest reason, quoting the lines that were probably meant if `may_quote`."""
    if all(_NUMBERED.match(line) for line in old.split("\n") if line):
        return "Leave out the line numbers and the tab after them."
    if "\ufffd" in old:
        return "U+FFFD replaces bytes that aren't UTF-8: leave them out of the old text."
    lines, old_lines = text.split("\n"), old.strip("\n").split("\n")
    collapsed = "\n".join(map(_collapse_whitespace, lines))
    collapsed_old = "\n".join(map(_collapse_whitespace, old_lines))
    if collapsed_old.strip() and collapsed_old in collapsed:
        at = _line_number(collapsed, collapsed_old)
        return _quote_lines("It differs only in whitespace", lines, at, len(old_lines), may_quote)
    if len(new.strip()) >= _MIN_DISTINCTIVE_CHARS and new in text:
        number = _line_number(text, new)
        return f"The file already contains the new text, in line {number}: was this edit made before?"
    index, key = max(enumerate(map(str.strip, old_lines)), key=lambda line: len(line[1]))
    candidates: dict[str, int] = {}
    for at, line in enumerate(lines[:_MAX_COMPARED_LINES], 1):
        candidates.setdefault(line.strip()[:_MAX_COMPARED_CHARS], at)
    similar = get_close_matches(key[:_MAX_COMPARED_CHARS], candidates, n=1, cutoff=0.6)
    if not similar:
        return "Read the file again: it contains nothing similar."
    first = max(1, candidates[similar[0]] - index)
    return _quote_lines("The closest match is", lines, first, len(old_lines), may_quote)


def _quote_lines(reason: str, lines: list[str], first: int, n_lines: int, may_quote: bool) -> str:
    if not may_quote:
        return f"{reason}, in line {first}. Copy the text exactly."
    quoted = [
        f"{number:6}\t{replace_surrogates(line[:_MAX_QUOTED_CHARS])}"
        for number, line in enumerate(lines[first - 1 :][: min(n_lines, _MAX_QUOTED_LINES)], first)
    ]
    return "\n".join((f"{reason}, in line {first}. Copy the text exactly, without line numbers:", *quoted))


def _collapse_whitespace(line: str) -> str:
    return " ".join(line.split())


def _line_number(text: str, part: str) -> int:
    return text.count("\n", 0, text.index(part)) + 1
