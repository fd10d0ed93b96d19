"""Why a text that was to be replaced is not in the file: what a model needs to get it right next time."""

import re
from difflib import get_close_matches

from kimi_tui.tools.file.document import without_surrogates

_NUMBERED = re.compile(r"\s*\d+\t")
_COMPARED_LINES = 20_000
_COMPARED_CHARS = 400
_TELLING_CHARS = 16
_QUOTED_LINES = 12
_QUOTED_CHARS = 300


def why_not_found(text: str, old: str, new: str, *, may_quote: bool) -> str:
    """The likeliest reason, with the lines that were probably meant if they may be quoted."""
    if all(_NUMBERED.match(line) for line in old.split("\n") if line):
        return "Leave out the line numbers and the tab after them."
    if "\ufffd" in old:
        return "U+FFFD stands for bytes that are not UTF-8: leave them out of the old text."
    lines, old_lines = text.split("\n"), old.strip("\n").split("\n")
    squeezed = "\n".join(map(_squeezed, lines))
    meant = "\n".join(map(_squeezed, old_lines))
    if meant.strip() and meant in squeezed:
        at = _line_at(squeezed, meant)
        return _quoted("It is there but for white space", lines, at, len(old_lines), may_quote)
    if len(new.strip()) >= _TELLING_CHARS and new in text:
        return f"The new text is already there, in line {_line_at(text, new)}: was this edit made before?"
    index, key = max(enumerate(map(str.strip, old_lines)), key=lambda line: len(line[1]))
    candidates: dict[str, int] = {}
    for at, line in enumerate(lines[:_COMPARED_LINES], 1):
        candidates.setdefault(line.strip()[:_COMPARED_CHARS], at)
    near = get_close_matches(key[:_COMPARED_CHARS], candidates, n=1, cutoff=0.6)
    if not near:
        return "Read the file again: it holds nothing like it."
    first = max(1, candidates[near[0]] - index)
    return _quoted("The nearest is", lines, first, len(old_lines), may_quote)


def _quoted(what: str, lines: list[str], first: int, n_lines: int, may_quote: bool) -> str:
    if not may_quote:
        return f"{what}, in line {first}. Copy the text exactly."
    shown = [
        f"{number:6}\t{without_surrogates(line[:_QUOTED_CHARS])}"
        for number, line in enumerate(lines[first - 1 :][: min(n_lines, _QUOTED_LINES)], first)
    ]
    return "\n".join((f"{what}, in line {first}. Copy the text exactly, without line numbers:", *shown))


def _squeezed(line: str) -> str:
    return " ".join(line.split())


def _line_at(text: str, part: str) -> int:
    return text.count("\n", 0, text.index(part)) + 1
