"""The canvas: what stands on each row of the screen, as strips, and which cells a change touches."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.selection import Selection
from textual.strip import Strip

from kimi_tui.language.saying import later, say
from kimi_tui.language.width import padded
from kimi_tui.tui.markdown.line import PLAIN, Line, Span, ink
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.finder import Finder
from kimi_tui.tui.transcript.flow import Place, code_of
from kimi_tui.tui.transcript.palette import Palette
from kimi_tui.tui.transcript.piece import GUTTER, NO_GUTTER, paint, undone
from kimi_tui.tui.transcript.viewport import Row

PILL = later(" ↓ new below ")
"""No language may need more cells for it."""
_SELECTED_GUTTER: Span = ("▎ ", ink("selected"))


@dataclass(frozen=True, slots=True)
class Marks:
    """What is drawn over the rows."""

    selected: Block | None = None
    selection: Selection | None = None
    selection_style: Style | None = None
    pill: bool = False
    """Whether the last row says that there is more below."""
    dimmed_from: Place | None = None
    """From here on everything is dimmed: it comes after the checkpoint that is looked at."""


class Canvas:
    """Holds the rows that are on the screen."""

    def __init__(self, finder: Finder) -> None:
        self.rows: Sequence[Row] = ()
        self.width = 0
        """Cells of a row that text may fill."""
        self.height = 0
        self._full_width = 0
        self._finder = finder
        self._painted: list[Strip | None] = []
        self._strips: list[Strip | None] = []

    def show(self, rows: Sequence[Row], size: Size, width: int) -> list[Region]:
        """Put `rows` on a screen of `size` whose first `width` columns are text; the regions that change."""
        full_width, height = size
        if (width, full_width, height) != (self.width, self._full_width, self.height):
            self.rows, self.width, self._full_width, self.height = rows, width, full_width, height
            self.repaint()
            return [Region(0, 0, width, height)]
        old_rows, self.rows = self.rows, rows
        regions: list[Region] = []
        for y in range(max(len(rows), len(old_rows))):
            old = old_rows[y] if y < len(old_rows) else None
            new = rows[y] if y < len(rows) else None
            if old is not None and new is not None and old.block is new.block:
                span = _changed_cells(old.line, new.line, width)
            else:
                span = (0, width)
            if span is not None:
                self._painted[y] = self._strips[y] = None
                regions.append(Region(span[0], y, span[1] - span[0], 1))
            elif new is not None and old is not None and new.place != old.place:
                self._strips[y] = None
        return regions

    def is_pill(self, x: int, y: int) -> bool:
        """Whether the mark that there is more below would stand there."""
        return y == self.height - 1 and self.width - len(PILL) <= x < self.width

    def repaint(self) -> None:
        """Marks or colours have changed: every row is drawn anew when it is asked for."""
        self._painted = [None] * self.height
        self._strips = [None] * self.height

    def painted(self, y: int, palette: Palette, marks: Marks) -> Strip:
        """What row `y` looks like, as far as text may go: the same strip as long as that stays so."""
        strip = self._painted[y]
        if strip is None:
            strip = self._painted[y] = self._drawn(y, palette, marks)
        return strip

    def strips(self, start: int, end: int, palette: Palette, marks: Marks) -> list[Strip]:
        """Rows `start` to `end`, those that have not changed from memory."""
        return [self.strip(y, palette, marks) for y in range(start, end)]

    def strip(self, y: int, palette: Palette, marks: Marks) -> Strip:
        """Row `y` as the compositor needs it: under the scroll bar, too, and with what it selects by."""
        if y >= self.height:
            return self._blank(self._full_width, palette)
        strip = self._strips[y]
        if strip is None:
            strip = self.painted(y, palette, marks)
            if self._full_width > strip.cell_length:
                strip = Strip.join([strip, self._blank(self._full_width - strip.cell_length, palette)])
            if y < len(self.rows):
                strip = strip.apply_offsets(0, code_of(self.rows[y].place))
            self._strips[y] = strip
        return strip

    def _drawn(self, y: int, palette: Palette, marks: Marks) -> Strip:
        if y >= len(self.rows):
            strip = self._blank(self.width, palette)
        else:
            strip = self._row_strip(self.rows[y], palette, marks)
        if marks.pill and y == self.height - 1 and self.width > len(PILL):
            pill = Strip([Segment(padded(say(PILL), len(PILL)), palette.style(ink("new-below")))], len(PILL))
            strip = Strip.join([strip.crop(0, self.width - len(PILL)), palette.filtered(pill)])
        return strip

    def _row_strip(self, row: Row, palette: Palette, marks: Marks) -> Strip:
        gutter = _SELECTED_GUTTER if row.block is marks.selected and row.line.spans else NO_GUTTER
        dimmed = marks.dimmed_from is not None and row.place >= marks.dimmed_from
        key = (row.place.row, gutter[0], dimmed)
        strip = row.picture.strips.get(key)
        if strip is None:
            line = undone(row.line) if dimmed else row.line
            strip = palette.filtered(paint(line, self.width, palette, gutter=gutter))
            row.picture.strips[key] = strip
        plain = strip
        if self._finder.needle:
            role = "match-current" if row.place == self._finder.current else "match"
            for start, end in self._finder.spans(strip.text):
                strip = _restyled(strip, start, end, palette.style(ink(role)))
        if marks.selection is not None and (span := marks.selection.get_span(code_of(row.place))) is not None:
            start, end = span
            last = GUTTER + len(row.line.text)
            first = max(start, GUTTER + row.line.margin)
            strip = _restyled(strip, first, last if end == -1 else min(end, last), marks.selection_style)
        return strip if strip is plain else palette.filtered(strip)

    def _blank(self, width: int, palette: Palette) -> Strip:
        return palette.filtered(Strip.blank(width, palette.style(PLAIN)))


def _changed_cells(old: Line, new: Line, width: int) -> tuple[int, int] | None:
    # From the first cell that differs to the last that either row fills.
    if old is new or (old.spans == new.spans and old.fill == new.fill):
        return None
    if old.fill != new.fill:
        return 0, width
    start = GUTTER
    for (old_text, old_ink), (new_text, new_ink) in zip(old.spans, new.spans, strict=False):
        if old_ink != new_ink:
            break
        if old_text != new_text:
            start += cell_len(_common_start(old_text, new_text))
            break
        start += cell_len(old_text)
    end = GUTTER + max(old.cells, new.cells)
    return max(0, min(start, width - 1) - 1), min(width, end + 1)


def _common_start(one: str, other: str) -> str:
    length = min(len(one), len(other))
    for index in range(length):
        if one[index] != other[index]:
            return one[:index]
    return one[:length]


def _restyled(strip: Strip, start: int, end: int, style: Style | None) -> Strip:
    # `strip` with `style` over its characters from `start` to `end`.
    segments: list[Segment] = []
    position = 0
    for text, own, _ in strip:
        stop = position + len(text)
        cuts = sorted({position, stop, *(cut for cut in (start, end) if position < cut < stop)})
        for first, last in pairwise(cuts):
            covered = start <= first < end
            segments.append(
                Segment(
                    text[first - position : last - position], (own or Style()) + style if covered else own
                )
            )
        position = stop
    return Strip(segments, strip.cell_length)
