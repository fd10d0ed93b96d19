"""A brush: puts cells of a widget on the terminal at once, where nothing lies over it.

Textual's compositor asks every widget in the rows of a change for all of its lines, many times a second while
an answer streams. A widget that knows its changed cells needs none of that: what it draws here is what
the compositor would draw, and will, whenever it next has a reason to.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


@runtime_checkable
class Paintable(Protocol):
    """An app whose terminal can be painted on."""

    def paint(self, placed: Iterable[tuple[int, int, Strip]]) -> bool:
        """Put strips on the terminal by row and first column; False when it can't be done now."""


class Brush:
    """Paints for one widget without border and padding, between its scroll bars."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._map: object = None
        self._place: Region | None = None
        """Where what it draws itself is on the screen; None while that can't be painted directly."""

    def paint(self, regions: Iterable[Region]) -> bool:
        """Paint `regions` of the widget; False when the compositor has to do it."""
        app, screen = self._widget.app, self._widget.screen
        if not isinstance(app, Paintable) or screen is not app.screen or screen._layout_required:
            return False
        seen = screen._compositor.visible_widgets
        if seen is not self._map:
            self._map, self._place = seen, self._uncovered(seen)
        return self._place is not None and app.paint(self._strips(regions, self._place))

    def _uncovered(self, seen: dict[Widget, tuple[Region, Region]]) -> Region | None:
        if self._widget not in seen:
            return None
        region, clip = seen[self._widget]
        if not clip.contains_region(region):
            return None
        content = self._widget.scrollable_content_region.size.region.translate(region.offset)
        for other, (place, visible) in seen.items():  # from front to back
            if other is self._widget:
                return content
            if place.intersection(visible).overlaps(content):
                return None
        return None

    def _strips(self, regions: Iterable[Region], place: Region) -> Iterator[tuple[int, int, Strip]]:
        for region in regions:
            whole = Region(0, region.y, place.width, region.height)
            for y, strip in enumerate(self._widget.render_lines(whole), region.y):
                yield place.y + y, place.x + region.x, strip.crop(region.x, region.right)
