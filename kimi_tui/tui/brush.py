"""A brush: puts cells of a widget on the terminal at once, where nothing lies over it.

Textual's compositor asks every widget in the rows of a change for all of its lines, many times a second while
an answer streams. A widget that knows its changed cells needs none of that: what it draws here is what the
compositor would draw, and will, whenever it next has a reason to.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Protocol, runtime_checkable

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

Placed = tuple[int, int, Strip]
"""Row, first column, and what is to stand there."""


@runtime_checkable
class Paintable(Protocol):
    """An app whose terminal can be painted on."""

    def paint(self, placed: Iterable[Placed]) -> bool:
        """Put strips on the terminal by row and first column; False when it can't be done now."""


class Brush:
    """Paints in one area of a widget; `area` tells where in the widget it is at that moment.

    `parts` are widgets within it that are painted along, a scroll bar for instance.
    """

    def __init__(
        self,
        widget: Widget,
        area: Callable[[], Region],
        *,
        parts: Callable[[], Collection[Widget]] = lambda: (),
    ) -> None:
        self._widget = widget
        self._area = area
        self._parts = parts
        self._map: object = None
        self._place: Region | None = None
        """Where the widget is on the screen; None while the area can't be painted directly."""

    def paint(self, strips: Iterable[Placed]) -> bool:
        """Paint strips, placed in the widget; False when the compositor has to do it."""
        app, screen = self._widget.app, self._widget.screen
        if not isinstance(app, Paintable) or screen is not app.screen:
            return False
        seen = screen._compositor.visible_widgets
        if seen is not self._map:
            self._map, self._place = seen, self._uncovered(seen)
        place = self._place
        return place is not None and app.paint((place.y + y, place.x + x, strip) for y, x, strip in strips)

    def _uncovered(self, seen: dict[Widget, tuple[Region, Region]]) -> Region | None:
        if self._widget not in seen:
            return None
        place, clip = seen[self._widget]
        area = self._area().translate(place.offset)
        if not clip.contains_region(area):
            return None
        parts = self._parts()
        for other, (region, visible) in seen.items():  # from front to back
            if other is self._widget:
                return place
            if other not in parts and region.intersection(visible).overlaps(area):
                return None
        return None
