"""The tree on the screen: the newest on top, and only what is in sight is drawn."""

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, work
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from kimi_tui.tui.key_tables import TIMELINE_TREE_KEYS
from kimi_tui.tui.keys import bindings
from kimi_tui.tui.timeline.look import Marks, drawn, fold_cells, now_row
from kimi_tui.tui.timeline.marking import on_mark
from kimi_tui.tui.timeline.rows import Row, Rows
from kimi_tui.tui.timeline.search import BITE_S
from kimi_tui.tui.timeline.tree import Tree
from kimi_tui.wire.timeline import TimelineNode, TimelineUpdate

_KEPT = 400
"""Rows that are kept as they were drawn: more than are in sight."""
_BITES_SHOWN = 8
"""Bites of a search after which what it found is shown: drawing takes longer than they do."""
_NOW = -1
"""The mark is on the row of now, which stands above all others."""


class TimelineView(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows of checkpoints, one of them marked. A new checkpoint moves nothing that is being read."""

    DEFAULT_CSS = """
    TimelineView { height: 1fr; overflow-x: hidden; scrollbar-size: 1 1; }
    """
    BINDINGS = bindings(TIMELINE_TREE_KEYS)
    BINDING_GROUP_TITLE = "Timeline"
    auto_links = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"timeline--marked", "timeline--marked-blurred"}

    @dataclass
    class Marked(Message):
        """Another row is marked; None is now."""

        row: Row | None

    class Changed(Message):
        """What is known of the marked row may have changed."""

    class Entered(Message):
        """The marked row was to be opened, though nothing is folded into it."""

    class FocusMoved(Message):
        """The keyboard came here or left."""

    class Opened(Message):
        """The marked row was clicked twice."""

    def __init__(self, *, wall_clock: Callable[[], float]) -> None:
        super().__init__()
        self._wall_clock = wall_clock
        self.rows = Rows(Tree())
        self.compared = ""
        """The uid of the checkpoint that waits to be compared with another."""
        self._sought: Row | None = None
        """The row that is to be marked again once a filter has found it."""
        self._strips: LRUCache[Hashable, Strip] = LRUCache(_KEPT)
        """What was drawn, by all that it depends on: opened again, or moved in, the pane looks the same."""
        self._marked = _NOW
        """Index among the rows, which count from the oldest."""

    # what it shows

    @property
    def marked(self) -> Row | None:
        """The marked row; None is now."""
        return self.rows.all[self._marked] if 0 <= self._marked < len(self.rows.all) else None

    @property
    def node(self) -> TimelineNode | None:
        """The checkpoint of the marked row; of a branch its last one."""
        row = self.marked
        return self.rows.tree.nodes.get(row.uid) if row is not None else None

    @property
    def marks(self) -> Marks:
        """What is drawn on the rows besides what they say."""
        return Marks(self._wall_clock(), self.compared)

    def show(self, tree: Tree) -> None:
        """Show a tree, from now."""
        self._changed(lambda: self.rows.show(tree))

    def update(self, update: TimelineUpdate) -> None:
        """Show what is new."""
        tree = self.rows.tree
        before = self.marked
        added, in_order = tree.update(update)
        count = len(self.rows.all)
        if not in_order:
            self.show(tree.rebuilt())
        elif not self.rows.grow(added):
            self._keep(before)
        elif len(self.rows.all) > count:
            self._resize(grown=len(self.rows.all) - count)
        self.refresh()
        self.post_message(self.Changed())

    def filter(self, query: str) -> None:
        """Show only checkpoints that speak of `query`."""
        self._changed(lambda: self.rows.filter(query))

    def go_to(self, uid: str) -> None:
        """Mark a checkpoint, wherever it is folded away."""
        self.rows.reveal(uid)
        self._resize()
        index = self.rows.index_of_checkpoint(uid)
        self._mark(_NOW if index is None else index)

    def _changed(self, change: Callable[[], object]) -> None:
        before = self.marked or self._sought
        change()
        self._keep(before)
        if self.rows.is_searching:
            self._sought = before if self._marked == _NOW else None
            self._search_on()

    @work(group="timeline-search", exclusive=True)
    async def _search_on(self) -> None:
        """Find the rest of what a filter shows, beside what the user does."""
        while self.rows.is_searching:
            added = 0
            for _ in range(_BITES_SHOWN):
                await asyncio.sleep(BITE_S)
                found = self.rows.search_on()
                if self._marked != _NOW:
                    self._marked += found  # rows count from the oldest, and these are older
                added += found
            if added:
                self._show_found()
        self._sought = None

    def _show_found(self) -> None:
        self._resize()
        index = self.rows.index_of_checkpoint(self._sought.uid) if self._sought is not None else None
        if index is not None:
            self._mark(index)
        self.post_message(self.Changed())

    def _keep(self, before: Row | None) -> None:
        index = self.rows.index_of(before.key) if before is not None else None
        if before is not None and index is None:
            index = self.rows.index_of_checkpoint(before.uid)
        self._resize()
        self._mark(_NOW if index is None else index)

    def _resize(self, *, grown: int = 0) -> None:
        self.virtual_size = Size(0, len(self.rows.all) + 1)
        if grown and self._marked != _NOW:
            # What is being read stays where it is: the new rows come in above it.
            self.scroll_to(y=self.scroll_offset.y + grown, animate=False)
        self.refresh()

    # drawing

    def render_line(self, y: int) -> Strip:
        """Line `y` of what is in sight."""
        width = self.scrollable_content_region.width
        index = self._index_at(y)
        style = self.visual_style
        if index < _NOW:
            return Strip.blank(width, style.rich_style)
        line = self._line(index, width)
        if index == self._marked:
            name = "timeline--marked" if self.has_focus else "timeline--marked-blurred"
            style = self.get_visual_style(name)
            line = on_mark(line, self, name)
        return self._strip(line, width, style)

    def _strip(self, line: Content, width: int, style: Style) -> Strip:
        key = line.plain, tuple(line.spans), width, style, self.app.theme
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = Visual.to_strips(self, line, width, 1, style, pad=True)[0]
        return strip

    def _line(self, index: int, width: int) -> Content:
        if index == _NOW:
            return now_row(self.rows.tree, width)
        return drawn(self.rows.all[index], self.rows, width, self.marks)

    def _index_at(self, y: int) -> int:
        # The row that is drawn there; below _NOW there is none.
        position = y + round(self.scroll_offset.y)
        count = len(self.rows.all)
        if position == 0:
            return _NOW
        return count - position if position <= count else _NOW - 1

    def _position(self, index: int) -> int:
        return 0 if index == _NOW else len(self.rows.all) - index

    def _refresh_row(self, index: int) -> None:
        y = self._position(index) - round(self.scroll_offset.y)
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    # moving

    def _mark(self, index: int) -> None:
        self._sought = None
        self._refresh_row(self._marked)
        self._marked = index
        position, top = self._position(index), round(self.scroll_offset.y)
        height = max(self.size.height, 1)
        if not top <= position < top + height:
            self.scroll_to(y=position if position < top else position - height + 1, animate=False)
        self._refresh_row(index)
        self.post_message(self.Marked(self.marked))

    def action_move(self, lines: int) -> None:
        """Mark another row, further down when positive."""
        position = self._position(self._marked) + lines
        position = max(0, min(position, len(self.rows.all)))
        self._mark(_NOW if position == 0 else len(self.rows.all) - position)

    def action_page(self, pages: int) -> None:
        """Mark a row a page further."""
        self.action_move(pages * max(self.size.height - 1, 1))

    def action_edge(self, direction: int) -> None:
        """Mark now, or the oldest row."""
        self._mark(_NOW if direction < 0 or not self.rows.all else 0)

    def action_fold(self, opened: bool) -> None:
        """Open the marked turn or branch, or close what the marked row is in."""
        row = self.marked
        if row is None:
            return
        if self.rows.fold(row, opened=opened):
            self._keep(row)
        elif not opened:
            self._go_out(row)
        elif self.rows.can_open(row):
            self.action_move(-1)
        else:
            self.post_message(self.Entered())

    def _go_out(self, row: Row) -> None:
        # From a step to its turn, from a turn to the branch that it is on, from a branch to where it left.
        if self.rows.query or row.kind == "origin":
            return
        if row.kind == "step" and row.turn is not None:
            index = self.rows.index_of(("turn", row.turn.head))
        elif row.kind == "turn" and row.strand is not self.rows.tree.live:
            index = self.rows.index_of(("branch", row.strand.key))
        elif row.kind == "branch" and row.strand.fork is not None:
            index = self.rows.index_of_checkpoint(row.strand.fork)
        else:
            return
        if index is not None:
            self._mark(index)

    def on_focus(self) -> None:
        """Tell whoever says what keys do."""
        self.post_message(self.FocusMoved())

    def on_blur(self) -> None:
        """The same."""
        self.post_message(self.FocusMoved())

    def on_click(self, event: events.Click) -> None:
        """Mark what is under the mouse; a click on its fold opens or closes it, a double click goes there."""
        event.stop()
        index = self._index_at(event.y)
        if index < _NOW:
            return
        self._mark(index)
        row = self.marked
        if row is not None and event.x in fold_cells(row) and self.rows.can_open(row):
            self.action_fold(not self.rows.shows_open(row))
        elif event.chain == 2:
            self.post_message(self.Opened())
