"""The conversation pane."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.timer import Timer

from kimi_tui.tui.markdown.parser import warm_up
from kimi_tui.tui.transcript.bindings import TRANSCRIPT_BINDINGS
from kimi_tui.tui.transcript.blocks.block import Block, Clock
from kimi_tui.tui.transcript.chronicle import Chronicle
from kimi_tui.tui.transcript.copying import code_blocks
from kimi_tui.tui.transcript.flow import START, Place, code_of
from kimi_tui.tui.transcript.inbox import Inbox
from kimi_tui.tui.transcript.piece import GUTTER, Gallery
from kimi_tui.tui.transcript.view import FlowView
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import TurnBegin

_TICK_S = 1.0
"""How often a running call shows its time."""
_REST_S = 0.002
"""Between two slices of a burst; keys are handled there."""
_WHOLE_ROW = 10_000
"""Characters; more than any row has."""


class Transcript(FlowView):
    """The whole conversation in one widget.

    Give it messages with `show` or `show_all`; it follows the end until the user scrolls up. What it can't
    do itself, such as opening a link, it asks for with a message.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(TRANSCRIPT_BINDINGS)

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
        gallery = Gallery()
        self._chronicle = Chronicle(gallery, clock)
        super().__init__(self._chronicle, gallery, name=name, id=id, classes=classes)
        self._inbox = Inbox(self._chronicle.show)
        self._work_timer: Timer | None = None
        self._tick_timer: Timer | None = None
        self._is_warm = False
        self._origin = self._caret = START

    # messages

    def show(self, message: Outgoing) -> None:
        """Take in one event or request."""
        self.show_all((message,))

    def show_all(self, messages: Sequence[Outgoing]) -> None:
        """Take in a batch. What takes too long for one turn of the event loop goes on in the next ones."""
        self._inbox.put(messages if self._inbox else self._chronicle.store(messages))
        if not self._is_warm and any(isinstance(message, TurnBegin) for message in messages):
            self._is_warm = True
            self.run_worker(warm_up, thread=True, group="warm-up")
        if self._work_timer is None:
            self._work()

    def flush(self) -> None:
        """Take in and draw at once whatever still waits."""
        while self._inbox:
            self._inbox.work()
        self._work()
        self._pacer.draw_now()

    @property
    def busy(self) -> bool:
        """Whether something still waits to be taken in or drawn."""
        return bool(self._inbox) or self._pacer.pending

    def clear(self) -> None:
        """Remove everything."""
        self._inbox.clear()
        self._chronicle.clear()
        self.gallery.clear()
        self._finder.search("")
        self.select_block(None)
        self._work()
        self.follow()

    def _work(self) -> None:
        if self._work_timer is not None:
            self._work_timer.stop()
            self._work_timer = None
        self._inbox.work()
        self._chronicle.settle()
        if self._inbox:
            self._work_timer = self.set_timer(_REST_S, self._work)
        if self._tick_timer is None and self._chronicle.running:
            self._tick_timer = self.set_timer(_TICK_S, self._tick)
        self._pacer.request()

    def _tick(self) -> None:
        self._tick_timer = None
        running = self._chronicle.running
        for call in running:
            call.tick()
        if running:
            self._tick_timer = self.set_timer(_TICK_S, self._tick)
            self._pacer.request()

    # blocks

    def select_block(self, which: Block | str | None) -> Block | None:
        """Select a block, or that of a tool call's id, and bring it on the screen; None selects nothing."""
        block = self._chronicle.block_of_call(which) if isinstance(which, str) else which
        if block is not self.selected:
            self.selected = block
            self.post_message(self.BlockChosen(block))
            self._repaint()
        place = self._flow.place_of(block) if block is not None else None
        if place is not None:
            self._viewport.show(place._replace(row=1))
            self._pacer.draw_now()
        return block

    def toggle_fold(self, block: Block) -> None:
        """Fold or unfold `block`; its head stays in sight."""
        if block.toggle():
            self._flow.recount(block)
            self._viewport.hold(self._flow.place_of(block))
            self._pacer.draw_now()

    def toggle_all(self) -> None:
        """Unfold everything that is folded, or fold everything when nothing is."""
        self._chronicle.toggle_all()
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
        started = here[1:] > (0, 0, 1)
        chapter = here.chapter + (1 if direction > 0 else 0 if started else -1)
        while 0 <= chapter < len(self._flow.chapters) and not self._flow.chapters[chapter].is_turn:
            chapter += direction
        self._go_to(None if chapter >= len(self._flow.chapters) else Place(max(0, chapter), 0, 0))

    def action_jump_to_prompt(self, direction: int) -> None:
        """Jump between prompts."""
        self.jump_to_prompt(direction)

    def action_select_next(self, direction: int) -> None:
        """Select the next block, or the one before; at first the last one on the screen."""
        place = self._flow.place_of(self.selected) if self.selected is not None else None
        if place is None:
            rows = [row for row in self._canvas.rows if row.line.spans]
            self.select_block(rows[-1].block if rows else None)
        elif (block := self._flow.neighbour(place, direction)) is not None:
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

    # search

    def search(self, text: str) -> int:
        """Mark `text` wherever it stands and go to the nearest match above; answers how many there are."""
        count = self._finder.search(text)
        if count:
            self.next_match(-1)
        self._repaint()
        return count

    def next_match(self, direction: int) -> bool:
        """Go to the next match (1) or the one before (-1)."""
        last = self._canvas.rows[-1].place if self._canvas.rows else START
        place = self._finder.step(direction, last if direction < 0 else self._viewport.top)
        if place is not None:
            self._viewport.show(place, above=self.size.height // 3)
            self._pacer.draw_now()
            self._repaint()
        return place is not None

    def action_search(self) -> None:
        """Ask for a text to search for."""
        self.post_message(self.SearchWanted())

    def action_next_match(self, direction: int) -> None:
        """Go from match to match."""
        self.next_match(direction)

    # the mouse, and selecting text by keys

    def on_click(self, event: events.Click) -> None:
        """Open a link, jump to the end, or select the block and fold it when its head was clicked."""
        if event.button != 1 or self.screen.selections:
            return
        if self._canvas.is_pill(event.x, event.y) and self.has_new_below:
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
        if self.text_selection is None:
            chosen = (row for row in seen if row.block is self.selected and row.line.spans)
            start = next(chosen, seen[len(seen) // 2])
            self._origin = self._caret = start.place
        elif rows < 0:
            self._caret = self._flow.up(self._caret, -rows)
        else:
            self._caret = self._flow.down(self._caret, rows) or self._caret
        first, last = sorted((self._origin, self._caret))
        self._viewport.show(self._caret)
        self.screen.selections = {
            self: Selection(Offset(0, code_of(first)), Offset(_WHOLE_ROW, code_of(last)))
        }
        self._pacer.draw_now()
