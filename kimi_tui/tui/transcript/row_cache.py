"""Cache of the rows on the screen as strips, and detection of changed cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.selection import Selection
from textual.strip import Strip

from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.markdown.styled_line import PLAIN, Span, StyledLine, text_style
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.layout import Position, encode_position
from kimi_tui.tui.transcript.render_cache import GUTTER, NO_GUTTER, dim_undone, paint
from kimi_tui.tui.transcript.style_cache import StyleCache
from kimi_tui.tui.transcript.text_search import TextSearch
from kimi_tui.tui.transcript.viewport import VisibleRow

NEW_BELOW_LABEL = tr_lazy(" ↓ new below ")
"""Translations must not need more cells."""
_SELECTED_GUTTER: Span = ("▎ ", text_style("selected"))


@dataclass(frozen=True, slots=True)
class RowDecorations:
    """Highlights drawn over the rows."""

    selected: Block | None = None
    selection: Selection | None = None
    selection_style: Style | None = None
    has_new_below: bool = False
    """Whether the last row shows the “new below” label."""
    dimmed_from: Position | None = None
    """Position of the first dimmed row. Rows after the previewed checkpoint are dimmed."""


class RowCache:
    """Holds the rows on the screen."""

    def __init__(self, text_search: TextSearch) -> None:
        self.rows: Sequence[VisibleRow] = ()
        self.width = 0
        """Cells of a row available to text."""
        self.height = 0
        self._full_width = 0
        self._text_search = text_search
        self._painted_rows: list[Strip | None] = []
        self._full_strips: list[Strip | None] = []

    def update_rows(self, rows: Sequence[VisibleRow], size: Size, width: int) -> list[Region]:
        """Set the rows for a screen of `size` with `width` columns of text. Return the changed regions."""
        full_width, height = size
        if (width, full_width, height) != (self.width, self._full_width, self.height):
            self.rows, self.width, self._full_width, self.height = rows, width, full_width, height
            self.invalidate()
            return [Region(0, 0, width, height)]
        old_rows, self.rows = self.rows, rows
        regions: list[Region] = []
        for y in range(max(len(rows), len(old_rows))):
            old = old_rows[y] if y < len(old_rows) else None
            new = rows[y] if y < len(rows) else None
            if old is not None and new is not None and old.block is new.block:
                span = _find_changed_cells(old.line, new.line, width)
            else:
                span = (0, width)
            if span is not None:
                self._painted_rows[y] = self._full_strips[y] = None
                regions.append(Region(span[0], y, span[1] - span[0], 1))
            elif new is not None and old is not None and new.position != old.position:
                self._full_strips[y] = None
        return regions

    def is_new_below_label(self, x: int, y: int) -> bool:
        """Return whether a cell belongs to the “new below” label, if it is shown."""
        return y == self.height - 1 and self.width - len(NEW_BELOW_LABEL) <= x < self.width

    def invalidate(self) -> None:
        """Drop all strips after a change of decorations or colors."""
        self._painted_rows = [None] * self.height
        self._full_strips = [None] * self.height

    def paint_row(self, y: int, style_cache: StyleCache, decorations: RowDecorations) -> Strip:
        """Return the text columns of row `y`. Returns the same strip until the row changes."""
        strip = self._painted_rows[y]
        if strip is None:
            strip = self._painted_rows[y] = self._render_row(y, style_cache, decorations)
        return strip

    def strips(
        self, start: int, end: int, style_cache: StyleCache, decorations: RowDecorations
    ) -> list[Strip]:
        """Return rows `start` to `end`, cached if unchanged."""
        return [self.strip(y, style_cache, decorations) for y in range(start, end)]

    def strip(self, y: int, style_cache: StyleCache, decorations: RowDecorations) -> Strip:
        """Return row `y` for the compositor: the full width, with offsets for text selection."""
        if y >= self.height:
            return self._blank(self._full_width, style_cache)
        strip = self._full_strips[y]
        if strip is None:
            strip = self.paint_row(y, style_cache, decorations)
            if self._full_width > strip.cell_length:
                strip = Strip.join([strip, self._blank(self._full_width - strip.cell_length, style_cache)])
            if y < len(self.rows):
                strip = strip.apply_offsets(0, encode_position(self.rows[y].position))
            self._full_strips[y] = strip
        return strip

    def _render_row(self, y: int, style_cache: StyleCache, decorations: RowDecorations) -> Strip:
        if y >= len(self.rows):
            strip = self._blank(self.width, style_cache)
        else:
            strip = self._row_strip(self.rows[y], style_cache, decorations)
        if decorations.has_new_below and y == self.height - 1 and self.width > len(NEW_BELOW_LABEL):
            label = Strip(
                [
                    Segment(
                        pad_right(tr(NEW_BELOW_LABEL), len(NEW_BELOW_LABEL)),
                        style_cache.style(text_style("new-below")),
                    )
                ],
                len(NEW_BELOW_LABEL),
            )
            strip = Strip.join(
                [strip.crop(0, self.width - len(NEW_BELOW_LABEL)), style_cache.apply_filters(label)]
            )
        return strip

    def _row_strip(self, row: VisibleRow, style_cache: StyleCache, decorations: RowDecorations) -> Strip:
        gutter = _SELECTED_GUTTER if row.block is decorations.selected and row.line.spans else NO_GUTTER
        dimmed = decorations.dimmed_from is not None and row.position >= decorations.dimmed_from
        key = (row.position.row, gutter[0], dimmed)
        strip = row.rendered_piece.strips.get(key)
        if strip is None:
            line = dim_undone(row.line) if dimmed else row.line
            strip = style_cache.apply_filters(paint(line, self.width, style_cache, gutter=gutter))
            row.rendered_piece.strips[key] = strip
        base_strip = strip
        if self._text_search.needle:
            role = "match-current" if row.position == self._text_search.current_match else "match"
            for start, end in self._text_search.find_spans(strip.text):
                strip = _apply_style(strip, start, end, style_cache.style(text_style(role)))
        if (
            decorations.selection is not None
            and (span := decorations.selection.get_span(encode_position(row.position))) is not None
        ):
            start, end = span
            last = GUTTER + len(row.line.text)
            first = max(start, GUTTER + row.line.margin)
            strip = _apply_style(
                strip, first, last if end == -1 else min(end, last), decorations.selection_style
            )
        return strip if strip is base_strip else style_cache.apply_filters(strip)

    def _blank(self, width: int, style_cache: StyleCache) -> Strip:
        return style_cache.apply_filters(Strip.blank(width, style_cache.style(PLAIN)))


def _find_changed_cells(old: StyledLine, new: StyledLine, width: int) -> tuple[int, int] | None:
    # Range from the first cell that differs to the last one used by either row.
    if old is new or (old.spans == new.spans and old.fill == new.fill):
        return None
    if old.fill != new.fill:
        return 0, width
    start = GUTTER
    for (old_text, old_style), (new_text, new_style) in zip(old.spans, new.spans, strict=False):
        if old_style != new_style:
            break
        if old_text != new_text:
            start += cell_len(_common_prefix(old_text, new_text))
            break
        start += cell_len(old_text)
    end = GUTTER + max(old.cells, new.cells)
    return max(0, min(start, width - 1) - 1), min(width, end + 1)


def _common_prefix(one: str, other: str) -> str:
    length = min(len(one), len(other))
    for index in range(length):
        if one[index] != other[index]:
            return one[:index]
    return one[:length]


def _apply_style(strip: Strip, start: int, end: int, style: Style | None) -> Strip:
    # Return `strip` with `style` applied to the characters from `start` to `end`.
    segments: list[Segment] = []
    position = 0
    for text, own_style, _ in strip:
        stop = position + len(text)
        cuts = sorted({position, stop, *(cut for cut in (start, end) if position < cut < stop)})
        for first, last in pairwise(cuts):
            is_covered = start <= first < end
            segments.append(
                Segment(
                    text[first - position : last - position],
                    (own_style or Style()) + style if is_covered else own_style,
                )
            )
        position = stop
    return Strip(segments, strip.cell_length)
