"""A scroll view over lines in named inks: laid out once a width, painted only where it is seen."""

from collections.abc import Callable

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from kimi_tui.tui.markdown.line import Line, Span, copied_text, ink
from kimi_tui.tui.transcript.palette import Palette, palette_of
from kimi_tui.tui.transcript.piece import GUTTER, NO_GUTTER, paint

Draw = Callable[[int], list[Line]]
"""Lays lines out to a width in cells."""


def _nothing(_: int) -> list[Line]:
    return []


class LineView(ScrollView, can_focus=False):
    """Shows what a function draws."""

    DEFAULT_CSS = """
    LineView { overflow-x: hidden; scrollbar-size-vertical: 1; }
    """
    ALLOW_SELECT = True

    def __init__(self, draw: Draw = _nothing) -> None:
        super().__init__()
        self._draw = draw
        self._lines: list[Line] = []
        self._width = 0
        self._palette: Palette | None = None
        self._palette_key: object = None
        self._marked: int | None = None

    @property
    def lines(self) -> list[Line]:
        """What is shown, at the width of the moment."""
        return self._lines

    def show(self, draw: Draw) -> None:
        """Show something else, from its top."""
        self._draw = draw
        self._width = 0
        self._marked = None
        self.scroll_to(y=0, animate=False)
        self.refresh(layout=True)

    def redraw(self) -> None:
        """Draw the same again, for what it depends on besides the width has changed."""
        self._width = 0
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Every line; whoever holds the view limits it."""
        # Only what is drawn is kept: its width may differ from this one by a scroll bar, and each of the two
        # would have everything laid out anew because of the other, again and again.
        if not self._width:
            self._lay_out(width)
        return len(self._lines if width == self._width else self._draw(max(width - GUTTER, 4)))

    def notify_style_update(self) -> None:
        """The theme may be another one: then no colour is known any more."""
        super().notify_style_update()
        key = (self.app.theme, self.colors, self.app.native_ansi_color)
        if key != self._palette_key:
            self._palette_key, self._palette = key, None

    def render_line(self, y: int) -> Strip:
        """Line `y` of what is in sight."""
        width = self.scrollable_content_region.width
        self._lay_out(width)
        index = y + round(self.scroll_offset.y)
        if index >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        gutter: Span = ("▎ ", ink("match-current")) if index == self._marked else NO_GUTTER
        return paint(self._lines[index], width, self._colours(), gutter=gutter).apply_offsets(0, index)

    def mark(self, index: int | None) -> None:
        """Mark a line and bring it into sight."""
        self._marked = index
        if index is not None:
            self.scroll_to(y=max(index - self.size.height // 3, 0), animate=False)
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text under the mouse's selection."""
        return selection.extract("\n".join(" " * GUTTER + line.text for line in self._lines)), "\n"

    def copied(self) -> str:
        """Everything, as a copy gives it."""
        return copied_text(self._lines)

    def _lay_out(self, width: int) -> None:
        if width > 0 and width != self._width:
            self._width = width
            self._lines = self._draw(max(width - GUTTER, 4))
            self.virtual_size = Size(width, len(self._lines))

    def _colours(self) -> Palette:
        if self._palette is None:
            self._palette = palette_of(self)
        return self._palette
