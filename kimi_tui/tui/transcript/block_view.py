"""View in which blocks are selected, folded, searched and copied with keys and the mouse."""

import re
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.transcript_bindings import TRANSCRIPT_BINDINGS
from kimi_tui.tui.transcript.block_action import REVERT_BINDING, BlockAction
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.reverted import RevertedBlock
from kimi_tui.tui.transcript.copy_text import extract_code_blocks
from kimi_tui.tui.transcript.layout import START, Position, encode_position
from kimi_tui.tui.transcript.render_cache import GUTTER
from kimi_tui.tui.transcript.view import BlockScrollView
from kimi_tui.tui.transcript.viewport import VisibleRow

_WHOLE_ROW = 10_000
"""End column for the selection of a whole row. No row has this many characters."""
_WORD = re.compile(r"[\w./@:-]+")


class BlockView(BlockScrollView):
    """Scroll view of blocks. Posts messages for actions outside of the view, such as opening a link."""

    BINDINGS: ClassVar[list[BindingType]] = list(TRANSCRIPT_BINDINGS)

    @dataclass
    class BlockSelected(Message, namespace="transcript"):
        """The selected block changed. None if no block is selected."""

        block: Block | None

    @dataclass
    class ActionsChanged(Message, namespace="transcript"):
        """The actions for the selected block changed. Empty while the view isn't focused."""

        actions: tuple[BlockAction, ...]

    @dataclass
    class LinkClicked(Message, namespace="transcript"):
        """The user opened a URL or a file path."""

        url: str

    @dataclass
    class PagerRequested(Message, namespace="transcript"):
        """The user asked to read a text in the pager."""

        title: str
        text: str

    @dataclass
    class CopyRequested(Message, namespace="transcript"):
        """The user asked to copy a text to the clipboard."""

        text: str
        kind: str
        """`selection`, `block` or `code`."""

    @dataclass
    class CommandRequested(Message, namespace="transcript"):
        """The user asked to run a slash command."""

        name: str
        """Command name without the slash, with its arguments."""

    class Left(Message, namespace="transcript"):
        """The user wants to leave the conversation pane."""

    class SearchRequested(Message, namespace="transcript"):
        """The user wants to enter a search text."""

    _origin = _caret = START
    _links_opened = 0
    _published_actions: tuple[BlockAction, ...] = ()

    # blocks

    def select_block(self, target: Block | str | None) -> Block | None:
        """Select a block, or the block of a tool call id, and scroll to it. None clears the selection."""
        block = self._source.block_of_call(target) if isinstance(target, str) else target
        if block is not self.selected:
            self.selected = block
            self._links_opened = 0
            self.post_message(self.BlockSelected(block))
            self._invalidate_rows()
        position = self._block_layout.position_of(block) if block is not None else None
        if position is not None:
            self._viewport.ensure_visible(position._replace(row=1))
            self._draw()
        self._publish_actions()
        return block

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Show the block's actions only while the view is focused."""
        super().watch_has_focus(_has_focus)
        self._publish_actions()

    def _publish_actions(self) -> None:
        actions: tuple[BlockAction, ...] = ()
        if (block := self.selected) is not None and self.has_focus:
            actions = _actions_for(block, can_revert=self._block_layout.checkpoint_before(block) is not None)
        if actions != self._published_actions:
            self._published_actions = actions
            self.post_message(self.ActionsChanged(actions))

    def toggle_fold(self, block: Block) -> None:
        """Fold or unfold `block`. Its head stays visible."""
        if block.toggle():
            self._block_layout.remeasure(block)
            self._viewport.keep_head_visible(self._block_layout.position_of(block))
            self._draw()
            self._publish_actions()

    def toggle_all(self) -> None:
        """Unfold all folded blocks, or fold all if none is folded."""
        self._source.toggle_all()
        self._draw()

    def source_of(self, block: Block) -> str:
        """Return the Markdown, command or text that `block` shows."""
        return block.source()

    def copy_block(self, block: Block | None = None) -> str:
        """Return the source of `block`, else of the selected block, else of the last response."""
        source_block = block or self.selected or self._source.last_response()
        return source_block.source() if source_block is not None else ""

    def jump_to_prompt(self, direction: int) -> None:
        """Scroll the next (1) or previous (-1) prompt to the top."""
        top = self._viewport.top
        is_inside = top[1:] > (0, 0, 1)
        section = top.section + (1 if direction > 0 else 0 if is_inside else -1)
        while (
            0 <= section < len(self._block_layout.sections)
            and not self._block_layout.sections[section].is_turn
        ):
            section += direction
        self._scroll_to_position(
            None if section >= len(self._block_layout.sections) else Position(max(0, section), 0, 0)
        )

    def action_jump_to_prompt(self, direction: int) -> None:
        """Jump to the next or previous prompt."""
        self.jump_to_prompt(direction)

    def action_select_next(self, direction: int) -> None:
        """Select the next (1) or previous (-1) block; without a selection, the last one on the screen."""
        position = self._block_layout.position_of(self.selected) if self.selected is not None else None
        if position is None:
            rows = [row for row in self._row_cache.rows if row.line.spans]
            self.select_block(rows[-1].block if rows else None)
        elif (block := self._block_layout.neighbor(position, direction)) is not None:
            self.select_block(block)

    def action_toggle_fold(self) -> None:
        """Fold or unfold the selected block."""
        if self.selected is not None:
            self.toggle_fold(self.selected)

    def action_toggle_all(self) -> None:
        """Fold or unfold all blocks."""
        self.toggle_all()

    def action_open_pager(self) -> None:
        """Open the selected block in the pager."""
        block = self.selected or self._source.last_response()
        if block is not None:
            self.post_message(self.PagerRequested(block.title, block.full_text()))

    def action_copy_block(self) -> None:
        """Copy the selected text or the selected block."""
        selected = self.screen.get_selected_text()
        text = selected or self.copy_block()
        if text:
            self.post_message(self.CopyRequested(text, "selection" if selected else "block"))

    def action_copy_code(self) -> None:
        """Copy the last code block of the selected block or of the last response."""
        code = extract_code_blocks(self.copy_block())
        if code:
            self.post_message(self.CopyRequested(code[-1], "code"))

    def action_open_link(self) -> None:
        """Open the next link of the selected block or of the last response, cycling through them."""
        block = self.selected or self._source.last_response()
        links = self._links_of(block) if block is not None else []
        if links:
            self.post_message(self.LinkClicked(links[self._links_opened % len(links)]))
            self._links_opened += 1

    def _links_of(self, block: Block) -> list[str]:
        lines = (
            line for piece in block.pieces for line in self._block_layout.render_piece(block, piece).lines
        )
        return list(dict.fromkeys(style.link for line in lines for _, style in line.spans if style.link))

    def action_go_back(self) -> None:
        """Revert to before the selected block. Without a selection, first select the last one on screen."""
        if self.selected is None:
            self.action_select_next(-1)
        if self.selected is None:
            return
        number = self._block_layout.checkpoint_before(self.selected)
        if number is not None:
            self.post_message(self.CommandRequested(f"revert {number}"))

    # search

    def search(self, text: str) -> int:
        """Mark all matches of `text` and scroll to the nearest one above. Return the number of matches."""
        count = self._text_search.search(text)
        if count:
            self.next_match(-1)
        self._invalidate_rows()
        return count

    @property
    def match_number(self) -> int:
        """Number of the current match, from 1. 0 without a match."""
        return self._text_search.current_number

    def next_match(self, direction: int) -> bool:
        """Scroll to the next (1) or previous (-1) match. Return False if nothing matches."""
        last = self._row_cache.rows[-1].position if self._row_cache.rows else START
        position = self._text_search.step(direction, last if direction < 0 else self._viewport.top)
        if position is not None:
            self._viewport.ensure_visible(position, above=self.size.height // 3)
            self._draw()
            self._invalidate_rows()
        return position is not None

    def action_search(self) -> None:
        """Ask for a search text."""
        self.post_message(self.SearchRequested())

    def action_next_match(self, direction: int) -> None:
        """Go to the next or previous match."""
        self.next_match(direction)

    # mouse and text selection

    def on_click(self, event: events.Click) -> None:
        """Open a link, scroll to the end, or select a block. A click on a block's head folds the block.

        A double click selects a word, a triple click the row.
        """
        event.prevent_default()
        if event.button != 1 or event.y >= len(self._row_cache.rows):
            return
        row = self._row_cache.rows[event.y]
        if event.chain > 1:
            self._select_in_row(row, event.x if event.chain == 2 else None)
        elif self.screen.selections:
            return
        elif self.has_new_below and self._row_cache.is_new_below_label(event.x, event.y):
            self.scroll_to_end()
        elif link := row.line.link_at(event.x - GUTTER):
            self._open_link(link, row.block)
        else:
            on_head = row.position.piece == 0 and (
                row.block.is_all_head or row.position.row == row.block.head_gap
            )
            if on_head and row.block.is_foldable:
                self.toggle_fold(row.block)
            self.select_block(row.block)

    def _open_link(self, link: str, block: Block) -> None:
        # Only the program's own markers may run commands; a link in the model's text never does.
        if isinstance(block, RevertedBlock) and link == block.hint_link:
            self.post_message(self.CommandRequested(link.removeprefix("/")))
        else:
            self.post_message(self.LinkClicked(link))

    def action_command(self, name: str) -> None:
        """Run a slash command."""
        self.post_message(self.CommandRequested(name))

    def _select_in_row(self, row: VisibleRow, cell: int | None) -> None:
        # Select the word at `cell`, or the whole row.
        start, end = 0, _WHOLE_ROW
        if cell is not None:
            position = row.line.character_at(cell - GUTTER)
            spans = (word.span() for word in _WORD.finditer(row.line.text))
            start, end = next(((a, b) for a, b in spans if a <= position < b), (position, position + 1))
        self._select_text(row.position, row.position, start + GUTTER, end + GUTTER)

    def _select_text(self, first: Position, last: Position, start: int = 0, end: int = _WHOLE_ROW) -> None:
        self.screen.selections = {
            self: Selection(Offset(start, encode_position(first)), Offset(end, encode_position(last)))
        }

    def action_extend_selection(self, rows: int) -> None:
        """Extend the text selection by rows, from the selected block or the middle of the screen."""
        rows_on_screen = self._row_cache.rows
        if not rows_on_screen:
            return
        if self.text_selection is None:
            selected_rows = (row for row in rows_on_screen if row.block is self.selected and row.line.spans)
            self._origin = self._caret = next(
                selected_rows, rows_on_screen[len(rows_on_screen) // 2]
            ).position
        elif rows < 0:
            self._caret = self._block_layout.position_above(self._caret, -rows)
        else:
            self._caret = self._block_layout.position_below(self._caret, rows) or self._caret
        self._viewport.ensure_visible(self._caret)
        self._select_text(min(self._origin, self._caret), max(self._origin, self._caret))
        self._draw()


def _actions_for(block: Block, *, can_revert: bool) -> tuple[BlockAction, ...]:
    """Return the actions for `block`, most important first."""
    actions = [
        BlockAction("transcript.copy", tr("copy"), "copy_block"),
        BlockAction("transcript.pager", tr("view"), "open_pager"),
    ]
    if can_revert:
        actions.insert(0, BlockAction(REVERT_BINDING, tr("revert to before this"), "go_back"))
    if block.is_foldable:
        actions.append(
            BlockAction("transcript.fold", tr("expand") if block.is_folded else tr("collapse"), "toggle_fold")
        )
    return tuple(actions)
