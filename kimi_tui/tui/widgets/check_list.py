"""List of options with check boxes. Their states differ even without colors."""

from typing import TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widgets import SelectionList

ValueT = TypeVar("ValueT")


class CheckList(SelectionList[ValueT]):
    """Textual's list, with the check boxes of this app."""

    def render_line(self, y: int) -> Strip:
        """Render visible line `y`."""
        strip = super().render_line(y)
        index = round(self.scroll_offset.y) + y
        if index >= self.option_count:
            return strip
        _left, _inner, _right, gap, *line = strip
        mark = "✔" if self.get_option_at_index(index).value in self.selected else " "
        style = (gap.style or Style()) + Style(meta={"option": index})
        return Strip([Segment(f"[{mark}]", style), gap, *line])
