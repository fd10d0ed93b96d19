"""The thumb of a scroll bar: it moves with every few lines of an answer, so it is painted like them."""

from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip


class Thumb:
    """Follows what is seen of a view; it stands elsewhere only once it has moved or grown by a row."""

    def __init__(self) -> None:
        self._rows = (0, 0)

    def follow(self, bar: ScrollBar, *, total: int, height: int, offset: int) -> list[Strip]:
        """Have `bar` show `height` of `total` rows from `offset` on; the cells to be painted, if any."""
        rows = (height * offset // max(1, total), height * height // max(1, total))
        if rows == self._rows:
            return []
        self._rows = rows
        bar.set_reactive(ScrollBar.window_virtual_size, total)
        bar.set_reactive(ScrollBar.window_size, height)
        bar.set_reactive(ScrollBar.position, float(offset))
        if bar.size.height != height:
            bar.refresh()  # a layout is to come, which draws it
            return []
        bar._set_dirty()  # as its own refresh does, which would have the compositor draw these rows
        return bar.render_lines(Region(0, 0, *bar.size))
