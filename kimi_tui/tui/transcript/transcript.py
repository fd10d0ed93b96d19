"""The conversation pane."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from kimi_tui.tui.transcript.bindings import TRANSCRIPT_BINDINGS
from kimi_tui.tui.transcript.blocks.block import Block, Clock
from kimi_tui.tui.transcript.canvas import PILL, Canvas, Marks
from kimi_tui.tui.transcript.chronicle import Chronicle
from kimi_tui.tui.transcript.copying import code_blocks, selected_text
from kimi_tui.tui.transcript.finder import Finder
from kimi_tui.tui.transcript.flow import START, Place, code_of
from kimi_tui.tui.transcript.inbox import Inbox
from kimi_tui.tui.transcript.pacer import Pacer
from kimi_tui.tui.transcript.palette import COMPONENT_CLASSES, Palette
from kimi_tui.tui.transcript.piece import GUTTER, Gallery
from kimi_tui.tui.transcript.viewport import Viewport
from kimi_tui.wire.channel import Outgoing

_TICK_S = 1.0
"""How often a running call shows its time."""
_WHOLE_ROW = 10_000
"""Characters; more than any row has."""
_REST_S = 0.002
"""Between two slices of a burst; keys are handled there."""


class Transcript(ScrollView, can_focus=True, inherit_bindings=False):
    """The whole conversation in one widget that lays out and draws only what is seen.

    Give it messages with `show` or `show_all`; it follows the end until the user scrolls up.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(TRANSCRIPT_BINDINGS)
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENT_CLASSES
    ALLOW_SELECT = True
    DEFAULT_CSS = """
    Transcript {
        width: 1fr;
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    has_new_below: reactive[bool] = reactive(default=False, repaint=False)
    """Whether something has come below the screen since the user scrolled up."""

    @dataclass
    class BlockChosen(Message):
        """The user selected a block; None when none is selected any more."""

        block: Block | None

    @dataclass
    class LinkClicked(Message):
        """The user clicked a web address or the path of a file."""

        url: str

    @dataclass
    class PagerWanted(Message):
        """The user wants to read a long text."""

        title: str
        text: str

    @dataclass
    class CopyWanted(Message):
        """The user wants this text in the clipboard."""

        text: str
        what: str
        """What it is, in a word."""

    class SearchWanted(Message):
        """The user wants to type what to search for."""

    def __init__(
        self,
        *,
        clock: Clock = monotonic,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.gallery = Gallery()
        """What has been laid out; its counter says how often."""
        self.selected: Block | None = None
        self._chronicle = Chronicle(self.gallery, clock)
        self._flow = self._chronicle.flow
        self._viewport = Viewport(self._flow)
        self._finder = Finder(self._flow)
        self._inbox = Inbox(self._chronicle.show)
        self._pacer = Pacer(self._draw, self.set_timer)
        self._canvas = Canvas(self._finder)
        self._palette: Palette | None = None
        self._palette_key: object = None
        self._work_timer: Timer | None = None
        self._tick_timer: Timer | None = None
        self._thumb: tuple[int, int] | None = None
        self._seen = 0
        self._origin = self._caret = START

    # messages

    def show(self, message: Outgoing) -> None:
        """Take in one event or request."""
        self.show_all([message])

    def show_all(self, messages: Iterable[Outgoing]) -> None:
        """Take in a batch. What takes too long for one turn of the event loop goes on in the next ones."""
        self._inbox.put(messages)
        if self._work_timer is None:
            self._work()

    def flush(self) -> None:
        """Take in and draw at once whatever still waits."""
        while self._inbox:
            self._inbox.work()
        self._stop_work()
        self._chronicle.settle()
        self._pacer.draw_now()

    def clear(self) -> None:
        """Remove everything."""
        self._inbox.clear()
        self._stop_work()
        self._chronicle.clear()
        self.gallery.clear()
        self._finder.search("")
        self._viewport.go_to(None)
        self.select_block(None)
        self.has_new_below = False
        self._pacer.draw_now()

    def _work(self) -> None:
        self._stop_work()
        self._inbox.work()
        self._chronicle.settle()
        if self._inbox:
            self._work_timer = self.set_timer(_REST_S, self._work)
        if self._tick_timer is None and self._chronicle.running:
            self._tick_timer = self.set_timer(_TICK_S, self._tick)
        self._pacer.request()

    def _stop_work(self) -> None:
        if self._work_timer is not None:
            self._work_timer.stop()
            self._work_timer = None

    def _tick(self) -> None:
        self._tick_timer = None
        for call in self._chronicle.running:
            call.tick()
            self._tick_timer = self._tick_timer or self.set_timer(_TICK_S, self._tick)
        self._pacer.request()

    # drawing

    def _draw(self) -> None:
        width, height = self.size
        if not width or not height:
            return
        self._flow.width, self._viewport.height = width, height
        regions = self._canvas.show(self._viewport.rows(), width, height)
        self._note_new_below()
        self._sync_scrollbar()
        if regions:
            self.refresh(*regions)

    def _note_new_below(self) -> None:
        if self._viewport.following:
            self.has_new_below = False
        elif self._chronicle.arrivals != self._seen:
            self.has_new_below = True
        self._seen = self._chronicle.arrivals

    def watch_has_new_below(self) -> None:
        """Show or hide the mark on the last row."""
        width, height = self.size
        self.refresh(Region(max(0, width - len(PILL)), height - 1, len(PILL), 1))

    def render_line(self, y: int) -> Strip:
        """The strip of one row of the screen."""
        return self._canvas.strip(y, self._colours(), self._marks())

    def _marks(self) -> Marks:
        selection = self.text_selection
        if selection is None:
            return Marks(selected=self.selected, pill=self.has_new_below)
        style = self.screen.get_component_rich_style("screen--selection")
        return Marks(self.selected, selection, style, self.has_new_below)

    def _colours(self) -> Palette:
        if self._palette is None:
            _, _, background, foreground = self.colors
            self._palette = Palette(
                self.get_component_styles,
                foreground=foreground,
                background=background,
                ansi=self.app.native_ansi_color,
            )
        return self._palette

    def notify_style_update(self) -> None:
        """The theme may be another one: no colour is known any more."""
        super().notify_style_update()
        key = (self.app.theme, self.colors, self.app.native_ansi_color)
        if key != self._palette_key:
            self._palette_key, self._palette = key, None
            self.gallery.forget_colours()
            self.refresh()

    def on_resize(self) -> None:
        """Lay out what is seen at the new width; the row on top stays."""
        self.screen.clear_selection()
        self._pacer.draw_now()

    # scrolling

    def _sync_scrollbar(self) -> None:
        # The bar follows the flow, not the other way round: no layout pass, and no repaint unless it moves.
        height = self.size.height
        offset = self._flow.offset(self._viewport.top)
        total = max(self._flow.height, offset + len(self._canvas.rows))
        self.set_reactive(Widget.virtual_size, Size(self.size.width, total))
        self.set_reactive(Widget.scroll_y, float(offset))
        self.set_reactive(Widget.scroll_target_y, float(offset))
        eighths = 8 * height
        thumb = (offset * eighths // max(1, total), height * eighths // max(1, total))
        if thumb != self._thumb and self.show_vertical_scrollbar:
            self._thumb = thumb
            self.vertical_scrollbar.window_virtual_size = total
            self.vertical_scrollbar.window_size = height
            self.vertical_scrollbar.position = offset

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Somebody else scrolled: the wheel, the bar, or a selection that is dragged past the edge."""
        rows = round(new_value) - self._flow.offset(self._viewport.top)
        if rows and self._viewport.height:
            self._viewport.scroll(rows)
            self._pacer.draw_now()

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: object) -> None:
        """Scroll without animation: rows above may turn out higher than guessed on the way."""
        if y is not None:
            self.scroll_y = y

    def scroll_rows(self, rows: int) -> None:
        """Scroll down by some rows, up when negative."""
        self._viewport.scroll(rows)
        self._pacer.draw_now()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._viewport.go_to(None)
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
        self._viewport.go_to(START)
        self._pacer.draw_now()

    def action_scroll_end(self) -> None:
        """Go to the end and stay there."""
        self.follow()

    # blocks

    def select_block(self, which: Block | str | None) -> Block | None:
        """Select a block, or that of a tool call's id, and bring it on the screen; None selects nothing."""
        block = self._chronicle.block_of_call(which) if isinstance(which, str) else which
        if block is not self.selected:
            self.selected = block
            self.post_message(self.BlockChosen(block))
            self.refresh()
        place = self._flow.place_of(block) if block is not None else None
        if place is not None:
            self._viewport.show(place._replace(row=1))
            self._pacer.draw_now()
        return block

    def toggle_fold(self, block: Block) -> None:
        """Fold or unfold `block`; its head stays where it is."""
        if block.toggle():
            self._flow.recount(block)
            self._keep_head(block)

    def toggle_all(self) -> None:
        """Unfold everything that is folded, or fold everything when nothing is."""
        blocks = [block for index in range(len(self._flow.chapters)) for block in self._flow.blocks_of(index)]
        foldable = [block for block in blocks if block.foldable]
        unfold = any(block.folded for block in foldable)
        for block in foldable:
            if block.folded == unfold:
                block.toggle()
                self._flow.recount(block)
        self._pacer.draw_now()

    def source_of(self, block: Block) -> str:
        """The Markdown, command or text that `block` came from."""
        return block.source()

    def copy_block(self, block: Block | None = None) -> str:
        """The source of `block`, else of the selected one, else of the last answer."""
        chosen = block or self.selected or self._chronicle.last_answer()
        return chosen.source() if chosen is not None else ""

    def jump_to_prompt(self, direction: int) -> None:
        """Bring the next prompt (1) or the one before (-1) to the top."""
        here = self._viewport.top
        chapters = [index for index, chapter in enumerate(self._flow.chapters) if chapter.is_turn]
        if direction < 0:
            targets = [index for index in chapters if Place(index, 0, 0) < here._replace(row=0)]
            self._viewport.go_to(Place(targets[-1], 0, 0) if targets else START)
        else:
            targets = [index for index in chapters if index > here.chapter]
            self._viewport.go_to(Place(targets[0], 0, 0) if targets else None)
        self._pacer.draw_now()

    def search(self, text: str) -> int:
        """Mark `text` wherever it stands and go to the nearest match above; answers how many there are."""
        count = self._finder.search(text)
        if count:
            self.next_match(-1)
        self.refresh()
        return count

    def next_match(self, direction: int) -> bool:
        """Go to the next match (1) or the one before (-1)."""
        last = self._canvas.rows[-1].place if self._canvas.rows else START
        place = self._finder.step(direction, last if direction < 0 else self._viewport.top)
        if place is not None:
            self._viewport.show(place, above=self.size.height // 3)
            self._pacer.draw_now()
            self.refresh()
        return place is not None

    def _keep_head(self, block: Block) -> None:
        # If the head of what folds has scrolled out above, it comes to the top; else nothing moves.
        place = self._flow.place_of(block)
        if place is not None and place < self._viewport.top and place[:2] == self._viewport.top[:2]:
            self._viewport.go_to(place)
        elif self._viewport.following and self._canvas.rows:
            self._viewport.go_to(self._viewport.top)
        self._pacer.draw_now()

    def action_jump_to_prompt(self, direction: int) -> None:
        """Jump between prompts."""
        self.jump_to_prompt(direction)

    def action_select_next(self, direction: int) -> None:
        """Select the next block, or the one before; at first the last one on the screen."""
        place = self._flow.place_of(self.selected) if self.selected is not None else None
        if place is None:
            rows = [row for row in self._canvas.rows if row.line.spans]
            self.select_block(rows[-1].block if rows else None)
            return
        block = self._flow.neighbour(place, direction)
        if block is not None:
            self.select_block(block)

    def action_toggle_fold(self) -> None:
        """Fold or unfold the selected block."""
        if self.selected is not None:
            self.toggle_fold(self.selected)

    def action_toggle_all(self) -> None:
        """Fold or unfold everything."""
        self.toggle_all()

    def action_open_pager(self) -> None:
        """Ask for the selected block in a pager."""
        block = self.selected or self._chronicle.last_answer()
        if block is not None:
            self.post_message(self.PagerWanted(block.title, block.full_text()))

    def action_copy_block(self) -> None:
        """Ask for the selected text, or the selected block, in the clipboard."""
        selected = self.screen.get_selected_text()
        text = selected or self.copy_block()
        if text:
            self.post_message(self.CopyWanted(text, "selection" if selected else "block"))

    def action_copy_code(self) -> None:
        """Ask for the last code block of the selected block, or of the last answer, in the clipboard."""
        code = code_blocks(self.copy_block())
        if code:
            self.post_message(self.CopyWanted(code[-1], "code"))

    def action_search(self) -> None:
        """Ask for a text to search for."""
        self.post_message(self.SearchWanted())

    def action_next_match(self, direction: int) -> None:
        """Go from match to match."""
        self.next_match(direction)

    # the mouse, and selecting text

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text under `selection`."""
        return selected_text(self._flow, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """The selection covers other cells."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Open a link, jump to the end, or select the block and fold it when its head was clicked."""
        if event.button != 1 or self.screen.selections:
            return
        if self.has_new_below and event.y == self.size.height - 1 and event.x >= self.size.width - len(PILL):
            self.follow()
            return
        if event.y >= len(self._canvas.rows):
            return
        row = self._canvas.rows[event.y]
        if link := row.line.link_at(event.x - GUTTER):
            self.post_message(self.LinkClicked(link))
            return
        on_head = row.place.piece == 0 and row.place.row == row.block.head_gap
        if on_head and row.block.foldable:
            self.toggle_fold(row.block)
        self.select_block(row.block)

    def action_extend_selection(self, rows: int) -> None:
        """Select text row by row, from the selected block or the middle of the screen."""
        seen = self._canvas.rows
        if not seen:
            return
        current = self.text_selection
        if current is None or current.start is None or current.end is None:
            start = next((row for row in seen if row.block is self.selected), seen[len(seen) // 2])
            self._origin = self._caret = start.place
        elif rows < 0:
            self._caret = self._flow.up(self._caret, -rows)
        else:
            self._caret = self._flow.down(self._caret, rows) or self._caret
        first, last = sorted((self._origin, self._caret))
        self._viewport.show(self._caret)
        self.screen.selections = {
            self: Selection(Offset(0, code_of(first)), Offset(_WHOLE_ROW, code_of(last))),
        }
        self._pacer.draw_now()
