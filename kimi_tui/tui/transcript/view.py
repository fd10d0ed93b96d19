"""Scroll view of a transcript layout: lays out, measures and draws only the visible rows."""

from collections.abc import Iterator, Sequence
from itertools import chain
from time import perf_counter
from typing import Protocol

from textual.geometry import Region, Size, Spacing
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from kimi_tui.tui.terminal.direct_paint import DirectPainter
from kimi_tui.tui.terminal.key_priority import key_priority_of
from kimi_tui.tui.terminal.screen_buffer import PlacedStrip
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.reverted import RevertedBlock
from kimi_tui.tui.transcript.checkpoint_preview import CheckpointPreview
from kimi_tui.tui.transcript.copy_text import text_in_selection
from kimi_tui.tui.transcript.layout import START, Position, TranscriptLayout
from kimi_tui.tui.transcript.render_cache import RenderCache
from kimi_tui.tui.transcript.row_cache import NEW_BELOW_LABEL, RowCache, RowDecorations
from kimi_tui.tui.transcript.scrollbar_thumb import ScrollbarThumb, ThumbCell
from kimi_tui.tui.transcript.style_cache import StyleCache
from kimi_tui.tui.transcript.text_search import TextSearch
from kimi_tui.tui.transcript.viewport import Viewport

_MEASURE_DELAY_S = 0.3
"""Seconds without new content after which measuring starts: exact heights replace estimates."""
_MEASURE_SLICE_S = 0.002
"""Seconds per slice of measuring. Short enough that a key never waits."""
_MEASURE_PAUSE_S = 0.04
"""Seconds between two slices of measuring."""


class BlockSource(Protocol):
    """Provides the blocks to show."""

    layout: TranscriptLayout
    update_count: int
    """Incremented with each visible change."""

    def block_of_call(self, call_id: str) -> Block | None:
        """Return the block of a tool call."""

    def last_response(self) -> Block | None:
        """Return the latest response."""

    def toggle_all(self) -> None:
        """Unfold all blocks or fold all blocks."""

    def marker_of_checkpoint(self, checkpoint_id: int) -> RevertedBlock | None:
        """Return the marker with the blocks after a checkpoint that was undone."""


class BlockScrollView(ScrollView, can_focus=True, inherit_bindings=False):
    """Scroll view of a `TranscriptLayout`.

    The position of the top row is authoritative. Textual's `scroll_y` and `virtual_size` are derived from
    it, because heights are estimates until their rows are visible. Scrolling never causes a layout pass. A
    frame compares the new rows with the rows on the screen and refreshes only the cells that differ. The view
    must have no border and no padding. Put them on a container around the view.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = """
    BlockScrollView {
        width: 1fr;
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    has_new_below: reactive[bool] = reactive(default=False, repaint=False)
    """Whether content was added below the screen after the user scrolled up."""

    def __init__(
        self,
        source: BlockSource,
        render_cache: RenderCache,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.render_cache = render_cache
        """Cache of rendered pieces. `layout_count` is the number of layouts so far."""
        self.selected: Block | None = None
        self._source = source
        self._block_layout = source.layout
        self._viewport = Viewport(self._block_layout)
        self._text_search = TextSearch(self._block_layout)
        self._row_cache = RowCache(self._text_search)
        self._style_cache: StyleCache | None = None
        self._style_cache_key: object = None
        self._direct_painter = DirectPainter(self)
        self._thumb = ScrollbarThumb()
        self._measure_timer: Timer | None = None
        self._measured_updates = 0
        """Update count of the source at the last check for new content."""
        self._seen_updates = 0
        self._checkpoint_preview = CheckpointPreview(self._block_layout, self._viewport, source)

    # drawing

    def _draw(self) -> None:
        width, height = self.scrollable_content_region.size
        if width < 1 or height < 1:
            self._row_cache.update_rows((), self.size, 0)
            return
        if self._block_layout.width != width:
            self._viewport.rewrap(width)
        if self._checkpoint_preview.refresh_dimming():
            self._invalidate_rows()
        self._viewport.height = height
        regions = self._row_cache.update_rows(self._viewport.visible_rows(), self.size, width)
        if self._measure_timer is None and self._block_layout.has_estimates:
            self._measure_timer = self.set_timer(_MEASURE_DELAY_S, self._measure_when_idle)
        self._update_new_below()
        thumb_cells = self._sync_scrollbar()
        if not regions and not thumb_cells:
            return
        thumb_strips = ((y, width, strip) for y, strip in thumb_cells)
        strips = chain(self._paint_regions(regions), thumb_strips)
        if not self._direct_painter.paint(strips, self.size.region, parts=(self.vertical_scrollbar,)):
            if regions:
                self.refresh(*regions)
            if thumb_cells:
                self.vertical_scrollbar.refresh()

    @property
    def is_measuring(self) -> bool:
        """Whether exact heights will replace estimates in later frames."""
        return self._measure_timer is not None

    def _measure_when_idle(self) -> None:
        self._measure_timer = None
        is_idle = self._source.update_count == self._measured_updates
        if not is_idle or key_priority_of(self.app).is_key_pending:
            self._measured_updates = self._source.update_count
            self._measure_timer = self.set_timer(_MEASURE_DELAY_S, self._measure_when_idle)
            return
        slice_end = perf_counter() + _MEASURE_SLICE_S
        while has_estimates := self._block_layout.measure(1):
            if perf_counter() > slice_end:
                break
        if has_estimates:
            self._measure_timer = self.set_timer(_MEASURE_PAUSE_S, self._measure_when_idle)
        else:
            self._draw()

    def _paint_regions(self, regions: Sequence[Region]) -> Iterator[PlacedStrip]:
        if regions:
            style_cache, decorations = self._ensure_style_cache(), self._row_decorations()
            for region in regions:
                for y in range(region.y, region.bottom):
                    yield y, 0, self._row_cache.paint_row(y, style_cache, decorations)

    def _update_new_below(self) -> None:
        if self._viewport.is_following:
            self.has_new_below = False
        elif self._source.update_count != self._seen_updates:
            self.has_new_below = True
        self._seen_updates = self._source.update_count

    def watch_has_new_below(self) -> None:
        """Show or hide the “new below” label on the last row."""
        self._row_cache.invalidate()
        left = max(0, self._row_cache.width - len(NEW_BELOW_LABEL))
        self.refresh(Region(left, self._row_cache.height - 1, len(NEW_BELOW_LABEL), 1))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips in `crop`. Unchanged rows are cached, because each frame requests all rows."""
        if self.styles.gutter != Spacing():
            return super().render_lines(crop)
        strips = self._row_cache.strips(
            crop.y, crop.bottom, self._ensure_style_cache(), self._row_decorations()
        )
        if crop.column_span == (0, self.size.width):
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """Return the strip of one row of the screen."""
        return self._row_cache.strip(y, self._ensure_style_cache(), self._row_decorations())

    def _invalidate_rows(self) -> None:
        self._row_cache.invalidate()
        self.refresh()

    def _row_decorations(self) -> RowDecorations:
        selection = self.text_selection
        if selection is None:
            return RowDecorations(
                self.selected,
                has_new_below=self.has_new_below,
                dimmed_from=self._checkpoint_preview.dimmed_from,
            )
        style = self.screen.get_component_rich_style("screen--selection")
        return RowDecorations(
            self.selected, selection, style, self.has_new_below, self._checkpoint_preview.dimmed_from
        )

    def _ensure_style_cache(self) -> StyleCache:
        if self._style_cache is None:
            self._style_cache = StyleCache(self, filters=self.get_line_filters())
        return self._style_cache

    def notify_style_update(self) -> None:
        """Drop cached styles when the theme has changed."""
        super().notify_style_update()
        key = (self.app.theme, self.colors, self.app.native_ansi_color)
        if key != self._style_cache_key:
            self._style_cache_key, self._style_cache = key, None
            self.render_cache.clear_strips()
            self._invalidate_rows()

    def on_resize(self) -> None:
        """Lay out the visible rows at the new width. The text at the top stays at the top."""
        if self._block_layout.width not in (0, self.scrollable_content_region.width):
            self.screen.clear_selection()
        self._draw()

    def block_at(self, y: int) -> Block | None:
        """Return the block at row `y` of the screen."""
        return self._row_cache.rows[y].block if 0 <= y < len(self._row_cache.rows) else None

    def preview_checkpoint(self, checkpoint_id: int | None) -> None:
        """Scroll to a checkpoint and dim everything after it. None ends the preview."""
        if checkpoint_id is not None:
            self._checkpoint_preview.show(checkpoint_id)
        elif not self._checkpoint_preview.end():
            return
        self._draw()
        self._invalidate_rows()

    # scrolling

    def _sync_scrollbar(self) -> Sequence[ThumbCell]:
        """Update Textual's scroll state. Return the cells of the scroll bar that changed."""
        height = self.size.height
        offset = self._block_layout.offset_of(self._viewport.top)
        total = max(self._block_layout.height, offset + len(self._row_cache.rows))
        self.set_reactive(Widget.virtual_size, Size(self.size.width, total))
        self.set_reactive(Widget.scroll_y, float(offset))
        self.set_reactive(Widget.scroll_target_y, float(offset))
        if not self.show_vertical_scrollbar:
            return ()
        bar = self.vertical_scrollbar
        return self._thumb.update(bar, self._ensure_style_cache(), total=total, height=height, offset=offset)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow Textual's scrolling: mouse wheel, scroll bar, or a selection dragged past the edge."""
        if self.scrollable_content_region.size != (self._block_layout.width, self._viewport.height):
            return  # A resize clamps the value; `on_resize` handles it.
        if rows := round(new_value) - self._block_layout.offset_of(self._viewport.top):
            self._viewport.scroll(rows)
            self._draw()

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: object) -> None:
        """Scroll without animation, because row heights may differ from estimates on the way."""
        if y is not None:
            self.scroll_y = y

    def scroll_rows(self, rows: int) -> None:
        """Scroll down by `rows`, up if negative."""
        self._viewport.scroll(rows)
        self._draw()

    def scroll_to_end(self) -> None:
        """Scroll to the end and follow it."""
        self._scroll_to_position(None)

    def _scroll_to_position(self, position: Position | None) -> None:
        self._viewport.go_to(position)
        self._draw()

    def action_scroll_rows(self, rows: int) -> None:
        """Scroll by rows."""
        self.scroll_rows(rows)

    def action_scroll_pages(self, pages: float) -> None:
        """Scroll by screens, with an overlap of two rows."""
        rows = max(1, self.size.height - 2) * pages
        self.scroll_rows(round(rows) or (1 if pages > 0 else -1))

    def action_scroll_home(self) -> None:
        """Scroll to the beginning."""
        self._scroll_to_position(START)

    def action_scroll_end(self) -> None:
        """Scroll to the end and follow it."""
        self.scroll_to_end()

    # text selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text within `selection`."""
        return text_in_selection(self._block_layout, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Redraw after a change of the selection."""
        self._invalidate_rows()
