"""Output of tools: its first or last lines, or all of it in pieces."""

from functools import partial
from itertools import islice

from kimi_tui.base.content import ContentPart
from kimi_tui.base.terminal import plain
from kimi_tui.language.saying import say_many
from kimi_tui.tui.markdown.line import Ink, Line, Spans, ink
from kimi_tui.tui.markdown.wrap import chop
from kimi_tui.tui.transcript.blocks.media import described
from kimi_tui.tui.transcript.piece import Draw

LINES_IN_PIECE = 100
_LONGEST_LINE = 2_000
"""Characters of a line that are shown."""


def output_text(output: str | tuple[ContentPart, ...]) -> str:
    """A tool's output as text; what isn't text is named."""
    if isinstance(output, str):
        return output
    return "\n".join(described(part) for part in output)


def tail_lines(
    text: str, count: int, width: int, *, margin: Spans = (), style: Ink | None = None
) -> list[Line]:
    """The last `count` lines of `text`, one row each, after a note of how many there are above."""
    lines = plain(text[-_LONGEST_LINE * count :]).rstrip("\n").split("\n")
    above = text.rstrip("\n").count("\n") + 1 - min(len(lines), count)
    rows = (
        [_note(say_many("⋯ {count:,} more line above", "⋯ {count:,} more lines above", above), margin)]
        if above > 0
        else []
    )
    return rows + [_row(line, width, margin, style or ink("dim")) for line in lines[-count:]]


def head_lines(
    text: str, count: int, width: int, *, margin: Spans = (), style: Ink | None = None
) -> list[Line]:
    """The first `count` lines of `text`, one row each, before a note of how many there are below."""
    total = text.rstrip("\n").count("\n") + 1
    lines = plain(text[: _LONGEST_LINE * count]).split("\n")[: min(count, total)]
    rows = [_row(line, width, margin, style or ink("dim")) for line in lines]
    return rows + ([_note(more_lines(total - count), margin)] if total > count else [])


def all_lines(text: str, *, margin: Spans = (), style: Ink | None = None) -> list[tuple[Draw, int]]:
    """What draws all of `text`, some lines each, with how many lines those are."""
    if not text.strip():
        return []
    lines = iter(plain(text).rstrip("\n").split("\n"))
    draws: list[tuple[Draw, int]] = []
    while chunk := list(islice(lines, LINES_IN_PIECE)):
        draws.append((partial(_wrapped, chunk, margin, style or ink("dim")), len(chunk)))
    return draws


def more_lines(count: int) -> str:
    """The note that `count` lines are not shown."""
    return say_many("⋯ {count:,} more line", "⋯ {count:,} more lines", count)


def _row(line: str, width: int, margin: Spans, style: Ink) -> Line:
    text = line[:_LONGEST_LINE].expandtabs(8)
    rows = chop(((text, style),), max(2, width - _cells(margin)))
    spans = (
        rows[0] if len(rows) == 1 else (*chop(rows[0], max(2, width - _cells(margin) - 1))[0], ("…", style))
    )
    return Line((*margin, *spans), "\n", _cells(margin))


def _wrapped(chunk: list[str], margin: Spans, style: Ink, width: int) -> list[Line]:
    lines: list[Line] = []
    for line in chunk:
        rows = chop(((line[:_LONGEST_LINE].expandtabs(8), style),), max(2, width - _cells(margin)))
        lines += [
            Line((*margin, *row), "" if index else "\n", _cells(margin)) for index, row in enumerate(rows)
        ]
    return lines


def _note(words: str, margin: Spans) -> Line:
    return Line((*margin, (words, ink("guide"))), "\n", _cells(margin))


def _cells(margin: Spans) -> int:
    return sum(len(text) for text, _ in margin)
