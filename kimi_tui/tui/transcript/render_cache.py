"""Pieces, the smallest units of layout, and a cache of recently rendered pieces."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from kimi_tui.tui.markdown.styled_line import BLANK, PLAIN, Span, Spans, StyledLine, span_width
from kimi_tui.tui.transcript.style_cache import StyleCache

GUTTER = 2
"""Cells left of every row, for the bar of the selected block."""

_RIGHT_MARGIN = 1
"""Cells between the text and the scroll bar."""
NO_GUTTER: Span = (" " * GUTTER, PLAIN)

Draw = Callable[[int], list[StyledLine]]
"""Returns rows for a width in cells."""


class Piece:
    """Rows that are laid out together, with `gap` blank rows above. Compared by identity."""

    __slots__ = ("draw", "gap", "height", "margin", "measured_width", "version")

    def __init__(self, draw: Draw, *, gap: int = 1, guess: int = 1, margin: Spans = ()) -> None:
        self.draw = draw
        self.gap = gap
        self.margin = margin
        """Prefix of each row, within the width."""
        self.height = gap + guess
        """Number of rows including the gap. An estimate until the piece is measured."""
        self.measured_width = 0
        """Width at which `height` was measured. 0 while the height is an estimate."""
        self.version = 0

    def redraw(self, draw: Draw | None = None) -> None:
        """Invalidate the rows, optionally with a new `draw`. The height is an estimate again."""
        if draw is not None:
            self.draw = draw
        self.version += 1
        self.measured_width = 0


@dataclass(slots=True)
class RenderedPiece:
    """Rows of a piece, and the strips already painted."""

    width: int
    version: int
    lines: Sequence[StyledLine]
    strips: dict[tuple[int, str, bool], Strip] = field(default_factory=dict)
    """Strips by row, gutter, and whether the row is dimmed."""


class RenderCache:
    """Lays out pieces and caches the latest results up to a limit, so that memory use stays constant."""

    def __init__(self, *, max_rows: int = 4_000) -> None:
        self._rendered_pieces: OrderedDict[Piece, RenderedPiece] = OrderedDict()
        self._max_rows = max_rows
        self._rows = 0
        self.layout_count = 0
        """Number of layouts performed so far."""

    @property
    def row_count(self) -> int:
        """Number of cached rows."""
        return self._rows

    def render(self, piece: Piece, width: int) -> RenderedPiece:
        """Return `piece` at `width` cells, from the cache if it is unchanged."""
        rendered = self._rendered_pieces.get(piece)
        if rendered is not None:
            if rendered.width == width and rendered.version == piece.version:
                self._rendered_pieces.move_to_end(piece)
                return rendered
            self._rows -= len(rendered.lines)
        rendered = RenderedPiece(width, piece.version, self.lay_out(piece, width))
        self._rendered_pieces[piece] = rendered
        self._rendered_pieces.move_to_end(piece)
        self._rows += len(rendered.lines)
        self._evict_oldest()
        return rendered

    def lay_out(self, piece: Piece, width: int) -> list[StyledLine]:
        """Lay out `piece` without caching it."""
        self.layout_count += 1
        text_width = max(4, width - GUTTER - _RIGHT_MARGIN - span_width(piece.margin))
        return [BLANK.indent(piece.margin)] * piece.gap + [
            line.indent(piece.margin) for line in piece.draw(text_width)
        ]

    def clear_strips(self) -> None:
        """Drop all strips after a change of styles. Layouts stay valid."""
        for rendered in self._rendered_pieces.values():
            rendered.strips.clear()

    def clear(self) -> None:
        """Remove everything."""
        self._rendered_pieces.clear()
        self._rows = 0

    def _evict_oldest(self) -> None:
        while self._rows > self._max_rows and len(self._rendered_pieces) > 1:
            _, rendered = self._rendered_pieces.popitem(last=False)
            self._rows -= len(rendered.lines)


def dim_undone(line: StyledLine) -> StyledLine:
    """Return `line` in the dimmed style of undone text."""
    return replace(line, spans=tuple((text, style.with_role("undone")) for text, style in line.spans))


def paint(line: StyledLine, width: int, style_cache: StyleCache, *, gutter: Span = NO_GUTTER) -> Strip:
    """Return `line` as a strip of exactly `width` cells, including the gutter."""
    segments = [Segment(gutter[0], style_cache.style(gutter[1]))]
    segments += [Segment(text, style_cache.style(style)) for text, style in line.spans if text]
    space = width - GUTTER - line.cells
    if space > 0:
        segments.append(Segment(" " * space, style_cache.style(line.fill)))
    strip = Strip(segments, GUTTER + line.cells + max(0, space))
    return strip if space >= 0 else strip.adjust_cell_length(width, Style.null())
