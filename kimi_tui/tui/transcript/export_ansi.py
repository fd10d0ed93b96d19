"""Export of blocks as ANSI text for a terminal's scrollback, in the terminal's own colors."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from kimi_tui.base.terminal_text import strip_controls
from kimi_tui.tui.markdown.styled_line import PLAIN, StyledLine
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.render_cache import RenderCache
from kimi_tui.tui.transcript.style_cache import StyleCache


def render_ansi(
    blocks: Iterable[Block], width: int, style_cache: StyleCache, console: Console
) -> Iterator[str]:
    """Yield the rows of `blocks` as styled text without any other control sequences."""
    render_cache = RenderCache()
    for block in blocks:
        for piece in block.pieces:
            for line in render_cache.lay_out(piece, width):
                yield style_cache.apply_filters(_render_strip(line, style_cache)).render(console)


def _render_strip(line: StyledLine, style_cache: StyleCache) -> Strip:
    base_style = style_cache.style(PLAIN)
    spans = [
        (strip_controls(text), _drop_base_colors(style_cache.style(style), base_style))
        for text, style in line.spans
        if text
    ]
    while spans and spans[-1][0].isspace():
        spans.pop()
    return Strip([Segment(text, style) for text, style in spans])


def _drop_base_colors(style: Style, base_style: Style) -> Style:
    """Return `style` without the foreground and background colors of `base_style`."""
    return Style(
        color=None if style.color == base_style.color else style.color,
        bgcolor=None if style.bgcolor == base_style.bgcolor else style.bgcolor,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=style.reverse,
        link=style.link,
    )
