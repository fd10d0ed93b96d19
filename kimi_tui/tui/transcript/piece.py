"""Pieces: the smallest things that are laid out and measured, and the gallery of those laid out lately."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from kimi_tui.tui.markdown.line import BLANK, PLAIN, Line, Span, Spans, span_width
from kimi_tui.tui.transcript.palette import Palette

GUTTER = 2
"""Cells left of every row, where the bar of a selected block stands."""

_RIGHT = 1
"""Cells between the text and the scroll bar."""
NO_GUTTER: Span = (" " * GUTTER, PLAIN)

Draw = Callable[[int], list[Line]]
"""Lays rows out to a width in cells."""


class Piece:
    """Rows that are laid out together, `gap` blank ones above them. Identity matters, not value."""

    __slots__ = ("draw", "gap", "height", "margin", "measured", "version")

    def __init__(self, draw: Draw, *, gap: int = 1, guess: int = 1, margin: Spans = ()) -> None:
        self.draw = draw
        self.gap = gap
        self.margin = margin
        """What stands before each row, within the width."""
        self.height = gap + guess
        """Rows with the gap; a guess until it is measured."""
        self.measured = 0
        """The width that `height` was measured at; 0 while it is a guess."""
        self.version = 0

    def redraw(self, draw: Draw | None = None) -> None:
        """What it shows has changed; its height is a guess again."""
        if draw is not None:
            self.draw = draw
        self.version += 1
        self.measured = 0


@dataclass(slots=True)
class Picture:
    """A piece laid out: its rows, and those already turned into strips."""

    width: int
    version: int
    lines: Sequence[Line]
    strips: dict[tuple[int, str, bool], Strip] = field(default_factory=dict)
    """By row, gutter, and whether it is dimmed."""


class Gallery:
    """Lays pieces out and keeps the pictures of the latest, so that memory stays flat in any session."""

    def __init__(self, *, most_rows: int = 4_000) -> None:
        self._pictures: OrderedDict[Piece, Picture] = OrderedDict()
        self._most_rows = most_rows
        self._rows = 0
        self.layouts = 0
        """How many pieces have been laid out so far."""

    @property
    def kept_rows(self) -> int:
        """Rows of the layouts in memory."""
        return self._rows

    def picture(self, piece: Piece, width: int) -> Picture:
        """`piece` at `width` cells, from memory when nothing has changed."""
        picture = self._pictures.get(piece)
        if picture is not None:
            if picture.width == width and picture.version == piece.version:
                self._pictures.move_to_end(piece)
                return picture
            self._rows -= len(picture.lines)
        picture = Picture(width, piece.version, self.lines(piece, width))
        self._pictures[piece] = picture
        self._pictures.move_to_end(piece)
        self._rows += len(picture.lines)
        self._forget_oldest()
        return picture

    def lines(self, piece: Piece, width: int) -> list[Line]:
        """`piece` laid out afresh and not kept."""
        self.layouts += 1
        room = max(4, width - GUTTER - _RIGHT - span_width(piece.margin))
        return [BLANK.indented(piece.margin)] * piece.gap + [
            line.indented(piece.margin) for line in piece.draw(room)
        ]

    def forget_colours(self) -> None:
        """The palette has changed: every strip is stale, the layouts are not."""
        for picture in self._pictures.values():
            picture.strips.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._pictures.clear()
        self._rows = 0

    def _forget_oldest(self) -> None:
        while self._rows > self._most_rows and len(self._pictures) > 1:
            _, picture = self._pictures.popitem(last=False)
            self._rows -= len(picture.lines)


def undone(line: Line) -> Line:
    """`line` as it looks when it is, or would be, undone."""
    return replace(line, spans=tuple((text, style.plus("undone")) for text, style in line.spans))


def paint(line: Line, width: int, palette: Palette, *, gutter: Span = NO_GUTTER) -> Strip:
    """`line` as a strip of exactly `width` cells, the gutter included."""
    segments = [Segment(gutter[0], palette.style(gutter[1]))]
    segments += [Segment(text, palette.style(style)) for text, style in line.spans if text]
    space = width - GUTTER - line.cells
    if space > 0:
        segments.append(Segment(" " * space, palette.style(line.fill)))
    strip = Strip(segments, GUTTER + line.cells + max(0, space))
    return strip if space >= 0 else strip.adjust_cell_length(width, Style.null())
