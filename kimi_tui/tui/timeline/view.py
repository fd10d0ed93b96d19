"""Checkpoint tree widget with the newest row on top. Renders only visible rows."""

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

from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import TIMELINE_TREE_KEYS
from kimi_tui.tui.timeline.filter import SLICE_S
from kimi_tui.tui.timeline.request import TimelineAction, TimelineRequest, TimelineRequestHandler
from kimi_tui.tui.timeline.row_renderer import RowContext, fold_cells, render_now_row, render_row
from kimi_tui.tui.timeline.row_style import style_highlighted
from kimi_tui.tui.timeline.rows import TimelineRow, TimelineRows
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.wire.timeline import TimelineNode, TimelineUpdate

_CACHED_ROWS = 400
"""Maximum number of rendered rows in the cache. More than fit on a screen."""
_SLICES_PER_REFRESH = 8
"""Number of search slices between updates of the screen, since drawing takes longer than searching."""
_NOW_INDEX = -1
"""Index of the row that stands for the current state, above all others."""


class TimelineView(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows of checkpoints, one of them highlighted. New rows don't move a highlighted checkpoint."""

    DEFAULT_CSS = """
    TimelineView { height: 1fr; overflow-x: hidden; scrollbar-size: 1 1; }
    """
    BINDINGS = bindings(TIMELINE_TREE_KEYS)
    BINDING_GROUP_TITLE = "Timeline"
    auto_links = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"timeline--marked", "timeline--marked-blurred"}

    @dataclass
    class Highlighted(Message):
        """Sent when another row is highlighted. None is the current state."""

        row: TimelineRow | None

    class Changed(Message):
        """Sent when the details of the highlighted row may have changed."""

    class FocusMoved(Message):
        """Sent when the tree gains or loses the focus."""

    def __init__(self, *, handler: TimelineRequestHandler, wall_clock: Callable[[], float]) -> None:
        super().__init__()
        self._handler = handler
        self._wall_clock = wall_clock
        self.rows = TimelineRows(TimelineTree())
        self.compare_uid = ""
        """The uid of the checkpoint marked for comparison."""
        self._row_to_restore: TimelineRow | None = None
        """The row to highlight again once the filter has found it."""
        self._strips: LRUCache[Hashable, Strip] = LRUCache(_CACHED_ROWS)
        """Rendered rows, for reopening and scrolling. The keys contain all values that a row depends on.

        """
        self._highlighted_index = _NOW_INDEX
        """Index of the highlighted row. Rows are sorted by age, oldest first."""

    # content

    @property
    def highlighted_row(self) -> TimelineRow | None:
        """The highlighted row. None is the current state."""
        return (
            self.rows.all[self._highlighted_index]
            if 0 <= self._highlighted_index < len(self.rows.all)
            else None
        )

    @property
    def highlighted_node(self) -> TimelineNode | None:
        """The checkpoint of the highlighted row. For a branch, its last checkpoint."""
        row = self.highlighted_row
        return self.rows.tree.nodes.get(row.uid) if row is not None else None

    @property
    def row_context(self) -> RowContext:
        """Values besides the tree that the rendering of rows depends on."""
        return RowContext(self._wall_clock(), self.compare_uid)

    def show(self, tree: TimelineTree) -> None:
        """Show a tree."""
        self._change_rows(lambda: self.rows.show(tree))

    def update(self, update: TimelineUpdate) -> None:
        """Apply an update."""
        tree = self.rows.tree
        before = self.highlighted_row
        added, in_order = tree.update(update)
        count = len(self.rows.all)
        if not in_order:
            self.show(tree.rebuild())
        elif not self.rows.append_checkpoints(added):
            self._restore_highlight(before)
        elif len(self.rows.all) > count:
            self._resize(grown=len(self.rows.all) - count)
        self.refresh()
        self.post_message(self.Changed())

    def filter(self, query: str) -> None:
        """Show only checkpoints that contain `query`."""
        self._change_rows(lambda: self.rows.filter(query))

    def highlight_checkpoint(self, uid: str) -> None:
        """Highlight a checkpoint and expand the turns and branches that contain it."""
        self.rows.reveal(uid)
        self._resize()
        index = self.rows.index_of_checkpoint(uid)
        self._highlight(_NOW_INDEX if index is None else index)

    def _change_rows(self, change: Callable[[], object]) -> None:
        before = self.highlighted_row or self._row_to_restore
        change()
        self._restore_highlight(before)
        if self.rows.is_searching:
            self._row_to_restore = before if self._highlighted_index == _NOW_INDEX else None
            self._continue_search()

    @work(group="timeline-search", exclusive=True)
    async def _continue_search(self) -> None:
        """Search the remaining checkpoints without blocking the screen."""
        while self.rows.is_searching:
            added = 0
            for _ in range(_SLICES_PER_REFRESH):
                await asyncio.sleep(SLICE_S)
                count = self.rows.continue_search()
                if self._highlighted_index != _NOW_INDEX:
                    self._highlighted_index += count  # the matches are older and are inserted before it
                added += count
            if added:
                self._show_matches()
        self._row_to_restore = None

    def _show_matches(self) -> None:
        self._resize()
        index = (
            self.rows.index_of_checkpoint(self._row_to_restore.uid)
            if self._row_to_restore is not None
            else None
        )
        if index is not None:
            self._highlight(index)
        self.post_message(self.Changed())

    def _restore_highlight(self, before: TimelineRow | None) -> None:
        index = self.rows.index_of(before.key) if before is not None else None
        if before is not None and index is None:
            index = self.rows.index_of_checkpoint(before.uid)
        self._resize()
        self._highlight(_NOW_INDEX if index is None else index)

    def _resize(self, *, grown: int = 0) -> None:
        self.virtual_size = Size(0, len(self.rows.all) + 1)
        if grown and self._highlighted_index != _NOW_INDEX:
            # The new rows are inserted above: scroll so that the visible rows don't move.
            self._scroll_to_row(round(self.scroll_offset.y) + grown)
        self.refresh()

    def _scroll_to_row(self, y: int) -> None:
        # Textual ignores a scroll before it has shown the scroll bar of rows that were just loaded.
        self.scroll_to(y=y, animate=False, force=True)

    # drawing

    def render_line(self, y: int) -> Strip:
        """Render visible line `y`."""
        width = self.scrollable_content_region.width
        index = self._index_at(y)
        style = self.visual_style
        if index < _NOW_INDEX:
            return Strip.blank(width, style.rich_style)
        line = self._build_row(index, width)
        if index == self._highlighted_index:
            name = "timeline--marked" if self.has_focus else "timeline--marked-blurred"
            style = self.get_visual_style(name)
            line = style_highlighted(line, self, name)
        return self._build_strip(line, width, style)

    def _build_strip(self, line: Content, width: int, style: Style) -> Strip:
        key = line.plain, tuple(line.spans), width, style, self.app.theme
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = Visual.to_strips(self, line, width, 1, style, pad=True)[0]
        return strip

    def _build_row(self, index: int, width: int) -> Content:
        if index == _NOW_INDEX:
            return render_now_row(self.rows.tree, width)
        return render_row(self.rows.all[index], self.rows, width, self.row_context)

    def _index_at(self, y: int) -> int:
        # Index of the row at `y`; less than _NOW_INDEX below the last row.
        position = y + round(self.scroll_offset.y)
        count = len(self.rows.all)
        if position == 0:
            return _NOW_INDEX
        return count - position if position <= count else _NOW_INDEX - 1

    def _position(self, index: int) -> int:
        return 0 if index == _NOW_INDEX else len(self.rows.all) - index

    def _refresh_row(self, index: int) -> None:
        y = self._position(index) - round(self.scroll_offset.y)
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    # moving

    def _highlight(self, index: int) -> None:
        self._row_to_restore = None
        self._refresh_row(self._highlighted_index)
        self._highlighted_index = index
        position, top = self._position(index), round(self.scroll_offset.y)
        height = max(self.size.height, 1)
        if not top <= position < top + height:
            self._scroll_to_row(position if position < top else position - height + 1)
        self._refresh_row(index)
        self.post_message(self.Highlighted(self.highlighted_row))

    def action_move(self, lines: int) -> None:
        """Move the highlight by this many rows, down if positive."""
        position = self._position(self._highlighted_index) + lines
        position = max(0, min(position, len(self.rows.all)))
        self._highlight(_NOW_INDEX if position == 0 else len(self.rows.all) - position)

    def action_page(self, pages: int) -> None:
        """Move the highlight by pages."""
        self.action_move(pages * max(self.size.height - 1, 1))

    def action_edge(self, direction: int) -> None:
        """Highlight the current state or the oldest row."""
        self._highlight(_NOW_INDEX if direction < 0 or not self.rows.all else 0)

    def action_fold(self, opened: bool) -> None:
        """Expand the highlighted turn or branch, or collapse the one that contains the highlighted row.

        From the current state, collapsing leads to the latest turn.
        """
        row = self.highlighted_row
        if row is None:
            if not opened and (index := _latest_turn(self.rows)) is not None:
                self._highlight(index)
            return
        if self.rows.fold(row, opened=opened):
            self._restore_highlight(row)
        elif not opened:
            self._highlight_parent(row)
        elif self.rows.can_open(row):
            self.action_move(-1)
        elif (node := self.highlighted_node) is not None and node.kind == "compaction":
            self.request("look")

    def _highlight_parent(self, row: TimelineRow) -> None:
        # From a step to its turn, from a turn to its branch, from a branch to the checkpoint it forks from.
        if self.rows.query or row.kind == "origin":
            return
        if row.kind == "step" and row.turn is not None:
            index = self.rows.index_of(("turn", row.turn.head))
        elif row.kind == "turn" and row.tree_branch is not self.rows.tree.current_branch:
            index = self.rows.index_of(("branch", row.tree_branch.key))
        elif row.kind == "branch" and row.tree_branch.fork_uid is not None:
            index = self.rows.index_of_checkpoint(row.tree_branch.fork_uid)
        else:
            return
        if index is not None:
            self._highlight(index)

    def on_focus(self) -> None:
        """Post `FocusMoved`, which updates the key hints."""
        self.post_message(self.FocusMoved())

    def on_blur(self) -> None:
        """Post `FocusMoved`, which updates the key hints."""
        self.post_message(self.FocusMoved())

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked row. A click on a fold sign toggles it. A double click opens the plan."""
        event.stop()
        index = self._index_at(event.y)
        if index < _NOW_INDEX:
            return
        self._highlight(index)
        row = self.highlighted_row
        if row is not None and event.x in fold_cells(row) and self.rows.can_open(row):
            self.action_fold(not self.rows.is_open(row))
        elif event.chain == 2:
            self.request("back")

    # requests

    def request(
        self,
        action: TimelineAction,
        *,
        node: TimelineNode | None = None,
        other_node: TimelineNode | None = None,
        name: str = "",
    ) -> None:
        """Request an action for `node`, by default for the checkpoint of the highlighted row."""
        row, tree = self.highlighted_row, self.rows.tree
        node = node or self.highlighted_node
        self._handler.handle_request(
            TimelineRequest(
                action=action,
                row_kind=row.kind if row is not None else None,
                node=node,
                branch=tree.branch_at(node.uid) if node is not None and node.uid in tree.nodes else None,
                other_node=other_node,
                name=name,
            )
        )


def _latest_turn(rows: TimelineRows) -> int | None:
    """Return the index of the latest turn of the current branch, if any."""
    current = rows.tree.current_branch
    turns = (it.turn for it in reversed(rows.all) if it.tree_branch is current and it.turn is not None)
    turn = next(turns, None)
    return rows.index_of(("turn", turn.head)) if turn is not None else None
