"""Scroll bar thumb. Painted directly, like the rows, because it moves while a response streams."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip

from kimi_tui.tui.terminal.silent_updates import invalidate_scrollbar
from kimi_tui.tui.transcript.style_cache import StyleCache

ThumbCell = tuple[int, Strip]
"""Row of the scroll bar and its new strip."""


class WholeCellRender(ScrollBarRender):
    """Scroll bar renderer without ends of an eighth of a cell, because they would change with every line."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]


class ScrollbarThumb:
    """Tracks the visible part of a view. The thumb changes only when it moves or grows by a whole row."""

    def __init__(self) -> None:
        self._rows = (0, 0)
        self._segments: Sequence[Segment] = ()

    def update(
        self, bar: ScrollBar, style_cache: StyleCache, *, total: int, height: int, offset: int
    ) -> list[ThumbCell]:
        """Set `bar` to show `height` of `total` rows starting at `offset`. Return the cells to paint."""
        rows = (height * offset // max(1, total), height * height // max(1, total))
        if rows == self._rows:
            return []
        self._rows = rows
        bar.renderer = WholeCellRender  # type: ignore[misc]  # as Textual says it may be set
        bar.set_reactive(ScrollBar.window_virtual_size, total)
        bar.set_reactive(ScrollBar.window_size, height)
        bar.set_reactive(ScrollBar.position, float(offset))
        if bar.size.height != height:
            bar.refresh()  # the pending layout draws it
            return []
        invalidate_scrollbar(bar)
        old_segments, self._segments = self._segments, _render_bar(bar, height)
        if len(old_segments) != height:
            old_segments = [Segment("")] * height
        return [
            (y, style_cache.apply_filters(Strip([new])))
            for y, (old, new) in enumerate(zip(old_segments, self._segments, strict=True))
            if new != old
        ]


def _render_bar(bar: ScrollBar, height: int) -> list[Segment]:
    # Render only the bar itself, without Textual's compositing.
    console = bar.app.console
    segments = console.render(bar.render(), console.options.update_dimensions(bar.size.width, height))
    return list(
        Segment.apply_style((segment for segment in segments if segment.text != "\n"), bar.rich_style)
    )
