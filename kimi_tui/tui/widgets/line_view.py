"""Scroll view of styled lines. Lays out lines once per width, and paints only visible lines."""

from typing import ClassVar, Protocol

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from kimi_tui.tui.markdown.styled_line import Span, StyledLine, join_for_copy, text_style
from kimi_tui.tui.transcript.render_cache import GUTTER, NO_GUTTER, paint
from kimi_tui.tui.transcript.style_cache import StyleCache


class LineSource(Protocol):
    """Lays out the lines to show."""

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the lines for a width in cells."""
        ...


class LineView(ScrollView, can_focus=False):
    """Shows the lines of a source."""

    DEFAULT_CSS = """
    LineView { overflow-x: hidden; scrollbar-size-vertical: 1; }
    """
    ALLOW_SELECT = True
    MARKER: ClassVar[Span] = ("▎ ", text_style("match-current"))
    """Marker before the highlighted line, two cells wide."""

    def __init__(self, source: LineSource | None = None) -> None:
        super().__init__()
        self._source = source
        self._lines: list[StyledLine] = []
        self._width = 0
        self._style_cache: StyleCache | None = None
        self._style_cache_key: object = None
        self._highlighted_line: int | None = None

    @property
    def lines(self) -> list[StyledLine]:
        """The lines at the current width."""
        return self._lines

    def show(self, source: LineSource) -> None:
        """Show the lines of `source` from the top."""
        self._source = source
        self._width = 0
        self._highlighted_line = None
        self.scroll_to(y=0, animate=False)
        self.refresh(layout=True)

    def redraw(self) -> None:
        """Lay out the lines again after a change other than the width."""
        self._width = 0
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines. The container limits the height."""
        # Only the layout that is drawn is cached. It may be narrower than `width`
        # by a scroll bar, and caching both in turn would repeat the layout each time.
        if not self._width:
            self._lay_out(width)
        return len(self._lines if width == self._width else self._build_lines(width))

    def notify_style_update(self) -> None:
        """Drop the cached styles if the theme changed."""
        super().notify_style_update()
        key = (self.app.theme, self.colors, self.app.native_ansi_color)
        if key != self._style_cache_key:
            self._style_cache_key, self._style_cache = key, None

    def render_line(self, y: int) -> Strip:
        """Render visible line `y`."""
        width = self.scrollable_content_region.width
        self._lay_out(width)
        index = y + round(self.scroll_offset.y)
        if index >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        gutter = self.MARKER if index == self._highlighted_line else NO_GUTTER
        return paint(self._lines[index], width, self._ensure_style_cache(), gutter=gutter).apply_offsets(
            0, index
        )

    def highlight_line(self, index: int | None) -> None:
        """Highlight a line and scroll to it. None removes the highlight."""
        self._highlighted_line = index
        if index is not None:
            self.scroll_to(y=max(index - self.size.height // 3, 0), animate=False)
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that is selected with the mouse."""
        return selection.extract("\n".join(" " * GUTTER + line.text for line in self._lines)), "\n"

    def text_for_copy(self) -> str:
        """Return all text in the form used for copying."""
        return join_for_copy(self._lines)

    def _lay_out(self, width: int) -> None:
        if width > 0 and width != self._width:
            self._width = width
            self._lines = self._build_lines(width)
            self.virtual_size = Size(width, len(self._lines))

    def _build_lines(self, width: int) -> list[StyledLine]:
        return self._source.build_lines(max(width - GUTTER, 4)) if self._source is not None else []

    def _ensure_style_cache(self) -> StyleCache:
        if self._style_cache is None:
            self._style_cache = StyleCache(self)
        return self._style_cache
