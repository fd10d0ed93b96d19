"""Rows for tool output: its first lines, its last lines, or all of them."""

from functools import partial
from itertools import islice

from kimi_tui.base.content_parts import ContentPart
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.i18n.translate import tr_n
from kimi_tui.tui.markdown.styled_line import Spans, StyledLine, TextStyle, text_style
from kimi_tui.tui.markdown.wrap import chop
from kimi_tui.tui.transcript.blocks.media_label import media_label
from kimi_tui.tui.transcript.render_cache import Draw

LINES_PER_PIECE = 100
_MAX_LINE_CHARS = 2_000
"""Maximum line length in characters. Longer lines are cut off."""


def output_text(output: str | tuple[ContentPart, ...]) -> str:
    """Return a tool's output as text, with labels for images, audio and video."""
    if isinstance(output, str):
        return output
    return "\n".join(media_label(part) for part in output)


def tail_lines(
    text: str, count: int, width: int, *, margin: Spans = (), style: TextStyle | None = None
) -> list[StyledLine]:
    """Return the last `count` lines of `text`, one row each, after a note with the number of lines above."""
    lines = sanitize(text[-_MAX_LINE_CHARS * count :]).rstrip("\n").split("\n")
    above = text.rstrip("\n").count("\n") + 1 - min(len(lines), count)
    rows = (
        [_note(tr_n("⋯ {count:,} more line above", "⋯ {count:,} more lines above", above), margin)]
        if above > 0
        else []
    )
    return rows + [_render_row(line, width, margin, style or text_style("dim")) for line in lines[-count:]]


def head_lines(
    text: str, count: int, width: int, *, margin: Spans = (), style: TextStyle | None = None
) -> list[StyledLine]:
    """Return the first `count` lines of `text`, one row each, and a note with the number of lines below."""
    total = text.rstrip("\n").count("\n") + 1
    lines = sanitize(text[: _MAX_LINE_CHARS * count]).split("\n")[: min(count, total)]
    rows = [_render_row(line, width, margin, style or text_style("dim")) for line in lines]
    return rows + ([_note(more_lines_note(total - count), margin)] if total > count else [])


def all_lines(text: str, *, margin: Spans = (), style: TextStyle | None = None) -> list[tuple[Draw, int]]:
    """Return the draw functions for all of `text` in chunks, each with its number of lines."""
    if not text.strip():
        return []
    lines = iter(sanitize(text).rstrip("\n").split("\n"))
    draws: list[tuple[Draw, int]] = []
    while chunk := list(islice(lines, LINES_PER_PIECE)):
        draws.append((partial(_wrap_chunk, chunk, margin, style or text_style("dim")), len(chunk)))
    return draws


def more_lines_note(count: int) -> str:
    """Return the note about `count` hidden lines."""
    return tr_n("⋯ {count:,} more line", "⋯ {count:,} more lines", count)


def _render_row(line: str, width: int, margin: Spans, style: TextStyle) -> StyledLine:
    text = line[:_MAX_LINE_CHARS].expandtabs(8)
    rows = chop(((text, style),), max(2, width - _margin_width(margin)))
    spans = (
        rows[0]
        if len(rows) == 1
        else (*chop(rows[0], max(2, width - _margin_width(margin) - 1))[0], ("…", style))
    )
    return StyledLine((*margin, *spans), "\n", _margin_width(margin))


def _wrap_chunk(chunk: list[str], margin: Spans, style: TextStyle, width: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for line in chunk:
        rows = chop(((line[:_MAX_LINE_CHARS].expandtabs(8), style),), max(2, width - _margin_width(margin)))
        lines += [
            StyledLine((*margin, *row), "" if index else "\n", _margin_width(margin))
            for index, row in enumerate(rows)
        ]
    return lines


def _note(text: str, margin: Spans) -> StyledLine:
    return StyledLine((*margin, (text, text_style("guide"))), "\n", _margin_width(margin))


def _margin_width(margin: Spans) -> int:
    return sum(len(text) for text, _ in margin)
