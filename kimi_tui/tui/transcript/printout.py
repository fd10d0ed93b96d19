"""A printout: blocks as lines for a terminal's scrollback, in its own foreground on its own background."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from kimi_tui.base.terminal import without_controls
from kimi_tui.tui.markdown.line import PLAIN, Line
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.palette import Palette
from kimi_tui.tui.transcript.piece import Gallery


def printout(blocks: Iterable[Block], width: int, palette: Palette, console: Console) -> Iterator[str]:
    """The rows of `blocks`, with their looks and no other control sequence in them."""
    gallery = Gallery()
    for block in blocks:
        for piece in block.pieces:
            for line in gallery.lines(piece, width):
                yield palette.filtered(_strip(line, palette)).render(console)


def _strip(line: Line, palette: Palette) -> Strip:
    paper = palette.style(PLAIN)
    spans = [
        (without_controls(text), _without(palette.style(ink), paper)) for text, ink in line.spans if text
    ]
    while spans and spans[-1][0].isspace():
        spans.pop()
    return Strip([Segment(text, style) for text, style in spans])


def _without(style: Style, paper: Style) -> Style:
    """`style` without the colours that are those of the app's paper."""
    return Style(
        color=None if style.color == paper.color else style.color,
        bgcolor=None if style.bgcolor == paper.bgcolor else style.bgcolor,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=style.reverse,
        link=style.link,
    )
