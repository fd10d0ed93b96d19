"""Paints cells of a widget directly on the terminal, bypassing the compositor.

While a response streams, Textual's compositor renders all lines of every widget in the changed rows, many
times a second. A widget that knows its changed cells can avoid that cost by painting them directly. The
result must be the same as from the compositor, which redraws the same cells at its next update.
"""

from collections.abc import Collection, Iterable
from typing import Protocol, runtime_checkable

from textual.geometry import Region
from textual.widget import Widget

from kimi_tui.tui.terminal.frame_writer import FrameWriter
from kimi_tui.tui.terminal.screen_buffer import PlacedStrip


@runtime_checkable
class PaintableApp(Protocol):
    """An app whose terminal can be painted on."""

    frame_writer: FrameWriter


class DirectPainter:
    """Paints in one area of a widget, as long as no other widget covers the area."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._visible_widgets: object = None
        self._region: Region | None = None
        """Region of the widget on the screen. None while the area can't be painted directly."""

    def paint(self, strips: Iterable[PlacedStrip], area: Region, *, parts: Collection[Widget] = ()) -> bool:
        """Paint strips, placed relative to the widget. Return False if the compositor has to do it.

        `area` is relative to the widget and may change only with the layout. `parts` are widgets in the area
        that are painted together with the widget, such as a scroll bar.
        """
        app, screen = self._widget.app, self._widget.screen
        if not isinstance(app, PaintableApp) or screen is not app.screen:
            return False
        visible = screen._compositor.visible_widgets
        if visible is not self._visible_widgets:
            self._visible_widgets = visible
            self._region = self._find_uncovered_region(visible, area, parts)
        region = self._region
        return region is not None and app.frame_writer.paint(
            (region.y + y, region.x + x, strip) for y, x, strip in strips
        )

    def _find_uncovered_region(
        self,
        visible_widgets: dict[Widget, tuple[Region, Region]],
        area: Region,
        parts: Collection[Widget],
    ) -> Region | None:
        if self._widget not in visible_widgets:
            return None
        region, clip = visible_widgets[self._widget]
        area = area.translate(region.offset)
        if not clip.contains_region(area):
            return None
        for other, (other_region, other_clip) in visible_widgets.items():  # from front to back
            if other is self._widget:
                return region
            visible = other_region.intersection(other_clip)
            if other not in parts and visible and visible.overlaps(area):
                return None
        return None
