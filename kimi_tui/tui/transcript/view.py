"""A scroll view over a flow of blocks: it lays out, measures and draws only what is seen."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Protocol

from textual.geometry import Region, Size, Spacing
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.tui.brush import Brush, Placed
from kimi_tui.tui.keys_first import keys_of
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.reverted import RevertedBlock
from kimi_tui.tui.transcript.canvas import PILL, Canvas, Marks
from kimi_tui.tui.transcript.copying import selected_text
from kimi_tui.tui.transcript.finder import Finder
from kimi_tui.tui.transcript.flow import START, Flow, Place
from kimi_tui.tui.transcript.looking_back import LookBack
from kimi_tui.tui.transcript.pacer import Pacer
from kimi_tui.tui.transcript.palette import Palette, palette_of
from kimi_tui.tui.transcript.piece import Gallery
from kimi_tui.tui.transcript.thumb import Thumb, ThumbCell
from kimi_tui.tui.transcript.viewport import Viewport


class Source(Protocol):
    """Where the blocks come from."""

    flow: Flow
    arrivals: int
    """Counts what came to be seen."""

    def block_of_call(self, call_id: str) -> Block | None:
        """The block of a tool call."""

    def last_answer(self) -> Block | None:
        """The latest answer."""

    def toggle_all(self) -> None:
        """Unfold everything, or fold everything."""

    def marker_of_checkpoint(self, checkpoint_id: int) -> RevertedBlock | None:
        """The marker that holds what came after a checkpoint which was undone."""


class FlowView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a flow and scrolls in it.

    The place of the top row is the truth; Textual's `scroll_y` and `virtual_size` follow it, since they
    count rows whose heights are guesses while nobody looks at them. Nothing here causes a layout pass. A
    drawing compares the new rows with those on the screen and refreshes only the cells that differ.
    It draws without border and padding: a container around it may have them.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = """
    FlowView {
        width: 1fr;
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    has_new_below: reactive[bool] = reactive(default=False, repaint=False)
    """Whether something has come below the screen since the user scrolled up."""

    def __init__(
        self,
        source: Source,
        gallery: Gallery,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.gallery = gallery
        """What has been laid out; its counter says how often."""
        self.selected: Block | None = None
        self._source = source
        self._flow = source.flow
        self._viewport = Viewport(self._flow)
        self._finder = Finder(self._flow)
        self._canvas = Canvas(self._finder)
        self._pacer = Pacer(self._draw, self.set_timer, is_held=lambda: keys_of(self.app).has_waiting)
        self._palette: Palette | None = None
        self._palette_key: object = None
        self._brush = Brush(self, lambda: self.size.region, parts=lambda: (self.vertical_scrollbar,))
        self._thumb = Thumb()
        self._seen = 0
        self._look_back = LookBack(self._flow, self._viewport, source)

    # drawing

    def _draw(self) -> None:
        width, height = self.scrollable_content_region.size
        if width < 1 or height < 1:
            self._canvas.show((), self.size, 0)
            return
        if self._flow.width != width:
            self._viewport.rewrap(width)
        if self._look_back.moved():
            self._repaint()
        self._viewport.height = height
        regions = self._canvas.show(self._viewport.rows(), self.size, width)
        self._note_new_below()
        thumb = self._sync_scrollbar()
        if not regions and not thumb:
            return
        beside = ((y, width, strip) for y, strip in thumb)
        if not self._brush.paint(chain(self._strips(regions), beside)):
            if regions:
                self.refresh(*regions)
            if thumb:
                self.vertical_scrollbar.refresh()

    def _strips(self, regions: Sequence[Region]) -> Iterator[Placed]:
        if regions:
            palette, marks = self._colours(), self._marks()
            for region in regions:
                for y in range(region.y, region.bottom):
                    yield y, 0, self._canvas.painted(y, palette, marks)

    def _note_new_below(self) -> None:
        if self._viewport.following:
            self.has_new_below = False
        elif self._source.arrivals != self._seen:
            self.has_new_below = True
        self._seen = self._source.arrivals

    def watch_has_new_below(self) -> None:
        """Show or hide the mark on the last row."""
        self._canvas.repaint()
        left = max(0, self._canvas.width - len(PILL))
        self.refresh(Region(left, self._canvas.height - 1, len(PILL), 1))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The strips of some rows. Only those that have changed are made: a frame asks for all of them."""
        if self.styles.gutter != Spacing():
            return super().render_lines(crop)
        strips = self._canvas.strips(crop.y, crop.bottom, self._colours(), self._marks())
        if crop.column_span == (0, self.size.width):
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """The strip of one row of the screen."""
        return self._canvas.strip(y, self._colours(), self._marks())

    def _repaint(self) -> None:
        self._canvas.repaint()
        self.refresh()

    def _marks(self) -> Marks:
        selection = self.text_selection
        if selection is None:
            return Marks(self.selected, pill=self.has_new_below, dimmed_from=self._look_back.dimmed_from)
        style = self.screen.get_component_rich_style("screen--selection")
        return Marks(self.selected, selection, style, self.has_new_below, self._look_back.dimmed_from)

    def _colours(self) -> Palette:
        if self._palette is None:
            self._palette = palette_of(self, filters=self.get_line_filters())
        return self._palette

    def notify_style_update(self) -> None:
        """The theme may be another one: then no colour is known any more."""
        super().notify_style_update()
        key = (self.app.theme, self.colors, self.app.native_ansi_color)
        if key != self._palette_key:
            self._palette_key, self._palette = key, None
            self.gallery.forget_colours()
            self._repaint()

    def on_resize(self) -> None:
        """Lay out what is seen at the new width; what stands on top stays there."""
        if self._flow.width not in (0, self.scrollable_content_region.width):
            self.screen.clear_selection()
        self._pacer.draw_now()

    def block_at(self, y: int) -> Block | None:
        """The block that row `y` of the screen belongs to."""
        return self._canvas.rows[y].block if 0 <= y < len(self._canvas.rows) else None

    def look_back(self, checkpoint_id: int | None) -> None:
        """Show where a checkpoint stands and dim what came after it; None shows what was shown before."""
        if checkpoint_id is not None:
            self._look_back.to(checkpoint_id)
        elif not self._look_back.end():
            return
        self._pacer.draw_now()
        self._repaint()

    # scrolling

    def _sync_scrollbar(self) -> Sequence[ThumbCell]:
        """Let Textual know where we are; the cells of the bar, if they change."""
        height = self.size.height
        offset = self._flow.offset(self._viewport.top)
        total = max(self._flow.height, offset + len(self._canvas.rows))
        self.set_reactive(Widget.virtual_size, Size(self.size.width, total))
        self.set_reactive(Widget.scroll_y, float(offset))
        self.set_reactive(Widget.scroll_target_y, float(offset))
        if not self.show_vertical_scrollbar:
            return ()
        bar = self.vertical_scrollbar
        return self._thumb.follow(bar, self._colours(), total=total, height=height, offset=offset)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Somebody else scrolled: the wheel, the bar, or a selection that is dragged past the edge."""
        if self.scrollable_content_region.size != (self._flow.width, self._viewport.height):
            return  # A resize clamps the value; what is shown then is for `on_resize` to say.
        if rows := round(new_value) - self._flow.offset(self._viewport.top):
            self._viewport.scroll(rows)
            self._pacer.draw_now()

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: object) -> None:
        """Scroll without animation: rows may turn out higher than guessed on the way."""
        if y is not None:
            self.scroll_y = y

    def scroll_rows(self, rows: int) -> None:
        """Scroll down by some rows, up when negative."""
        self._viewport.scroll(rows)
        self._pacer.draw_now()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._go_to(None)

    def _go_to(self, place: Place | None) -> None:
        self._viewport.go_to(place)
        self._pacer.draw_now()

    def action_scroll_rows(self, rows: int) -> None:
        """Scroll by rows."""
        self.scroll_rows(rows)

    def action_scroll_pages(self, pages: float) -> None:
        """Scroll by screens, keeping two rows of the last one in sight."""
        rows = max(1, self.size.height - 2) * pages
        self.scroll_rows(round(rows) or (1 if pages > 0 else -1))

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self._go_to(START)

    def action_scroll_end(self) -> None:
        """Go to the end and stay there."""
        self.follow()

    # selecting text

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text under `selection`."""
        return selected_text(self._flow, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """The selection covers other cells."""
        self._repaint()
