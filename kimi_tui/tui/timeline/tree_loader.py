"""Loader of the timeline tree. Builds a large tree in a thread, so that the screen stays responsive."""

import asyncio
from typing import Any

from textual.screen import Screen

from kimi_tui.base.gc_control import gc_paused
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import ShowTimeline
from kimi_tui.wire.timeline import Timeline, TimelineUpdate

_INITIAL_CHECKPOINTS = 600
"""Number of newest checkpoints to load first. More than fit on a screen."""
_MAX_SYNC_CHECKPOINTS = 2_000
"""Maximum number of checkpoints that can be arranged within a frame."""


class TreeLoader:
    """Requests the timeline, builds its tree, keeps it up to date and shows it in the pane."""

    def __init__(self, *, screen: Screen[Any], wire: Wire) -> None:
        self._screen = screen
        self._wire = wire
        self.tree: TimelineTree | None = None
        """Tree of the newest checkpoints, and later of all checkpoints. None before the first are loaded."""
        self._view: TimelineView | None = None
        self._is_stale = False
        """Whether a revert was made since the tree was loaded."""
        self._completing_tree: TimelineTree | None = None
        """The partial tree for which the remaining checkpoints were requested."""
        self._loading: Timeline | None = None
        """The timeline whose tree is being built."""
        self._updates: list[TimelineUpdate] = []
        """Updates received since the build of the tree began."""
        self._waiting: list[asyncio.Future[TimelineTree]] = []
        """Callers that wait for all checkpoints."""

    # requests

    def load_newest(self) -> None:
        """Request the newest checkpoints, unless a tree is loaded."""
        if self.tree is None:
            self._wire.command(ShowTimeline(_INITIAL_CHECKPOINTS))

    async def load_all(self) -> TimelineTree:
        """Return the tree of all checkpoints, including those of the last revert."""
        if self.tree is not None and not self.tree.older_count and not self._is_stale:
            return self.tree
        loaded: asyncio.Future[TimelineTree] = asyncio.get_running_loop().create_future()
        self._waiting.append(loaded)
        self._wire.command(ShowTimeline())
        return await loaded

    def show_in(self, view: TimelineView) -> None:
        """Show the tree in a view that has been mounted, now and after each change."""
        self._view = view
        if self.tree is not None:
            self._show_tree(self.tree)

    def expect_revert(self) -> None:
        """Reload the tree before its next use, because a revert was made."""
        self._is_stale = True

    def restart(self) -> None:
        """Discard the tree and load the tree of another session."""
        if self.tree is not None:
            self.tree = None
            self._stop_building()
            self.load_newest()

    # replies

    def build(self, timeline: Timeline) -> None:
        """Build the tree of a timeline. Drop a tree that is still being built."""
        self._stop_building()
        if len(timeline.nodes) > _MAX_SYNC_CHECKPOINTS:
            self._loading = timeline
            self._screen.run_worker(self._build_in_thread(timeline), group="timeline-growth")
        else:
            with gc_paused():
                tree = TimelineTree(timeline)
            self._set_tree(tree)

    def update(self, update: TimelineUpdate) -> None:
        """Apply an update to the tree and to a tree that is being built."""
        if self._loading is not None:
            self._updates.append(update)
        if self.tree is None:
            return
        if self._view is not None:
            self._view.update(update)
            self.tree = self._view.rows.tree
        else:
            self.tree = _updated(self.tree, update)

    def _stop_building(self) -> None:
        self._loading = None
        self._updates.clear()

    async def _build_in_thread(self, timeline: Timeline) -> None:
        with gc_paused():
            tree = await asyncio.to_thread(TimelineTree, timeline)
        if self._loading is not timeline:
            return
        for update in self._updates:
            tree = _updated(tree, update)
        self._stop_building()
        self._set_tree(tree)

    def _set_tree(self, tree: TimelineTree) -> None:
        self.tree, self._is_stale = tree, False
        self._show_tree(tree)
        if tree.older_count:
            return
        waiting, self._waiting = self._waiting, []
        for loaded in waiting:
            if not loaded.done():
                loaded.set_result(tree)

    def _show_tree(self, tree: TimelineTree) -> None:
        """Show a tree. If the tree is partial, request the remaining checkpoints once it is visible."""
        if self._view is None:
            return
        self._view.show(tree)
        if tree.older_count and self._completing_tree is not tree:
            self._completing_tree = tree
            self._view.call_after_refresh(self._wire.command, ShowTimeline())


def _updated(tree: TimelineTree, update: TimelineUpdate) -> TimelineTree:
    _, in_order = tree.update(update)
    return tree if in_order else tree.rebuild()
