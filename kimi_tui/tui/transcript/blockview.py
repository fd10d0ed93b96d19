"""A view in which blocks are selected, folded, searched and copied, by keys and by mouse."""

import re
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from kimi_tui.tui.transcript.acts import Act, acts_on
from kimi_tui.tui.transcript.bindings import TRANSCRIPT_BINDINGS
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.reverted import RevertedBlock
from kimi_tui.tui.transcript.copying import code_blocks
from kimi_tui.tui.transcript.flow import START, Place, code_of
from kimi_tui.tui.transcript.piece import GUTTER
from kimi_tui.tui.transcript.view import FlowView
from kimi_tui.tui.transcript.viewport import Row

_WHOLE_ROW = 10_000
"""Characters; more than any row has."""
_WORD = re.compile(r"[\w./@:-]+")


class BlockView(FlowView):
    """What it can't do itself, such as opening a link, it asks for with a message."""

    BINDINGS: ClassVar[list[BindingType]] = list(TRANSCRIPT_BINDINGS)

    @dataclass
    class BlockChosen(Message, namespace="transcript"):
        """The user selected a block; None when none is selected any more."""

        block: Block | None

    @dataclass
    class Offered(Message, namespace="transcript"):
        """What can be done with the selected block while the keyboard is here has changed."""

        acts: tuple[Act, ...]

    @dataclass
    class LinkClicked(Message, namespace="transcript"):
        """The user clicked a web address or the path of a file."""

        url: str

    @dataclass
    class PagerWanted(Message, namespace="transcript"):
        """The user wants to read a long text."""

        title: str
        text: str

    @dataclass
    class CopyWanted(Message, namespace="transcript"):
        """The user wants this text in the clipboard."""

        text: str
        what: str
        """What it is, in a word."""

    @dataclass
    class CommandWanted(Message, namespace="transcript"):
        """The user wants a command run."""

        name: str
        """With what follows it, if something does."""

    class Left(Message, namespace="transcript"):
        """The user is done here."""

    class SearchWanted(Message, namespace="transcript"):
        """The user wants to type what to search for."""

    _origin = _caret = START
    _links_opened = 0
    _offered: tuple[Act, ...] = ()

    # blocks

    def select_block(self, which: Block | str | None) -> Block | None:
        """Select a block, or that of a tool call's id, and bring it on the screen; None selects nothing."""
        block = self._source.block_of_call(which) if isinstance(which, str) else which
        if block is not self.selected:
            self.selected = block
            self._links_opened = 0
            self.post_message(self.BlockChosen(block))
            self._repaint()
        place = self._flow.place_of(block) if block is not None else None
        if place is not None:
            self._viewport.show(place._replace(row=1))
            self._pacer.draw_now()
        self._offer()
        return block

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Whoever shows what can be done here does so while the keyboard is here."""
        super().watch_has_focus(_has_focus)
        self._offer()

    def _offer(self) -> None:
        acts: tuple[Act, ...] = ()
        if (block := self.selected) is not None and self.has_focus:
            acts = acts_on(block, can_go_back=self._flow.checkpoint_before(block) is not None)
        if acts != self._offered:
            self._offered = acts
            self.post_message(self.Offered(acts))

    def toggle_fold(self, block: Block) -> None:
        """Fold or unfold `block`; its head stays in sight."""
        if block.toggle():
            self._flow.recount(block)
            self._viewport.hold(self._flow.place_of(block))
            self._pacer.draw_now()
            self._offer()

    def toggle_all(self) -> None:
        """Unfold everything that is folded, or fold everything when nothing is."""
        self._source.toggle_all()
        self._pacer.draw_now()

    def source_of(self, block: Block) -> str:
        """The Markdown, command or text that `block` came from."""
        return block.source()

    def copy_block(self, block: Block | None = None) -> str:
        """The source of `block`, else of the selected one, else of the last answer."""
        chosen = block or self.selected or self._source.last_answer()
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
        block = self.selected or self._source.last_answer()
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

    def action_open_link(self) -> None:
        """Ask for the first link of the selected block, or of the last answer; the next one each time."""
        block = self.selected or self._source.last_answer()
        links = self._links_of(block) if block is not None else []
        if links:
            self.post_message(self.LinkClicked(links[self._links_opened % len(links)]))
            self._links_opened += 1

    def _links_of(self, block: Block) -> list[str]:
        lines = (line for piece in block.pieces for line in self._flow.picture(block, piece).lines)
        return list(dict.fromkeys(ink.link for line in lines for _, ink in line.spans if ink.link))

    def action_go_back(self) -> None:
        """Ask to go back to before the selected block; at first select the last one on the screen."""
        if self.selected is None:
            self.action_select_next(-1)
        if self.selected is None:
            return
        number = self._flow.checkpoint_before(self.selected)
        if number is not None:
            self.post_message(self.CommandWanted(f"revert {number}"))

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

    # the mouse, and selecting text

    def on_click(self, event: events.Click) -> None:
        """Open a link, go to the end, or select the block and fold it by its head; twice selects a word."""
        event.prevent_default()
        if event.button != 1 or event.y >= len(self._canvas.rows):
            return
        row = self._canvas.rows[event.y]
        if event.chain > 1:
            self._select_in_row(row, event.x if event.chain == 2 else None)
        elif self.screen.selections:
            return
        elif self.has_new_below and self._canvas.is_pill(event.x, event.y):
            self.follow()
        elif link := row.line.link_at(event.x - GUTTER):
            self._open_link(link, row.block)
        else:
            on_head = row.place.piece == 0 and (row.block.is_all_head or row.place.row == row.block.head_gap)
            if on_head and row.block.foldable:
                self.toggle_fold(row.block)
            self.select_block(row.block)

    def _open_link(self, link: str, block: Block) -> None:
        # Only the program's own marks name commands; a link of the model's never runs one.
        if isinstance(block, RevertedBlock) and link == block.hint_link:
            self.post_message(self.CommandWanted(link.removeprefix("/")))
        else:
            self.post_message(self.LinkClicked(link))

    def action_command(self, name: str) -> None:
        """Ask for a command."""
        self.post_message(self.CommandWanted(name))

    def _select_in_row(self, row: Row, cell: int | None) -> None:
        # The word at a cell, or the whole row.
        start, end = 0, _WHOLE_ROW
        if cell is not None:
            position = row.line.character_at(cell - GUTTER)
            words = (word.span() for word in _WORD.finditer(row.line.text))
            start, end = next(((a, b) for a, b in words if a <= position < b), (position, position + 1))
        self._select_text(row.place, row.place, start + GUTTER, end + GUTTER)

    def _select_text(self, first: Place, last: Place, start: int = 0, end: int = _WHOLE_ROW) -> None:
        self.screen.selections = {self: Selection(Offset(start, code_of(first)), Offset(end, code_of(last)))}

    def action_extend_selection(self, rows: int) -> None:
        """Select text row by row, from the selected block or the middle of the screen."""
        seen = self._canvas.rows
        if not seen:
            return
        if self.text_selection is None:
            chosen = (row for row in seen if row.block is self.selected and row.line.spans)
            self._origin = self._caret = next(chosen, seen[len(seen) // 2]).place
        elif rows < 0:
            self._caret = self._flow.up(self._caret, -rows)
        else:
            self._caret = self._flow.down(self._caret, rows) or self._caret
        self._viewport.show(self._caret)
        self._select_text(min(self._origin, self._caret), max(self._origin, self._caret))
        self._pacer.draw_now()
