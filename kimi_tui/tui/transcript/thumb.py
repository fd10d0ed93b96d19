"""The thumb of a scroll bar: it moves with every few lines of an answer, so it is painted like them."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip

from kimi_tui.tui.transcript.palette import Palette

ThumbCell = tuple[int, Strip]
"""A row of the bar, and what is to stand there."""


class WholeCells(ScrollBarRender):
    """A bar without the eighths of a cell at its ends, which would be sent anew with every line."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]


class Thumb:
    """Follows what is seen of a view; it stands elsewhere only once it has moved or grown by a row."""

    def __init__(self) -> None:
        self._rows = (0, 0)
        self._shown: Sequence[Segment] = ()

    def follow(
        self, bar: ScrollBar, palette: Palette, *, total: int, height: int, offset: int
    ) -> list[ThumbCell]:
        """Have `bar` show `height` of `total` rows from `offset` on; the cells to be painted, if any."""
        rows = (height * offset // max(1, total), height * height // max(1, total))
        if rows == self._rows:
            return []
        self._rows = rows
        bar.renderer = WholeCells  # type: ignore[misc]  # as Textual says it may be set
        bar.set_reactive(ScrollBar.window_virtual_size, total)
        bar.set_reactive(ScrollBar.window_size, height)
        bar.set_reactive(ScrollBar.position, float(offset))
        if bar.size.height != height:
            bar.refresh()  # a layout is to come, which draws it
            return []
        bar._layout_cache.clear()  # as its own refresh does, which would have the compositor draw these rows
        bar._set_dirty()
        before, self._shown = self._shown, _drawn(bar, height)
        if len(before) != height:
            before = [Segment("")] * height
        return [
            (y, palette.filtered(Strip([new])))
            for y, (old, new) in enumerate(zip(before, self._shown, strict=True))
            if new != old
        ]


def _drawn(bar: ScrollBar, height: int) -> list[Segment]:
    # What the bar draws itself, without all that Textual makes of it for what lies over and under.
    console = bar.app.console
    drawn = console.render(bar.render(), console.options.update_dimensions(bar.size.width, height))
    return list(Segment.apply_style((it for it in drawn if it.text != "\n"), bar.rich_style))
