"""Loader of the timeline tree. A large tree is built in a thread so that the screen stays responsive."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.screen import Screen

from kimi_tui.base.gc_control import gc_paused
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.wire.timeline import Timeline, TimelineUpdate

_MAX_SYNC_CHECKPOINTS = 2_000
"""Maximum number of checkpoints that can be arranged within a frame."""


class TreeLoader:
    """Builds trees and passes each to `show` when it is ready, including updates received while building."""

    def __init__(self, *, screen: Screen[Any], show: Callable[[TimelineTree], None]) -> None:
        self._screen = screen
        self._show = show
        self._loading: Timeline | None = None
        """The timeline whose tree is being built."""
        self._updates: list[TimelineUpdate] = []
        """Updates received since then."""

    def load(self, timeline: Timeline) -> None:
        """Build the tree of a timeline, replacing one that is still being built."""
        self.stop()
        if len(timeline.nodes) > _MAX_SYNC_CHECKPOINTS:
            self._loading = timeline
            self._screen.run_worker(self._load_in_thread(timeline), group="timeline-growth")
        else:
            with gc_paused():
                tree = TimelineTree(timeline)
            self._show(tree)

    def update(self, update: TimelineUpdate) -> None:
        """Queue an update for the tree that is being built."""
        if self._loading is not None:
            self._updates.append(update)

    def stop(self) -> None:
        """Discard the tree that is being built."""
        self._loading = None
        self._updates.clear()

    async def _load_in_thread(self, timeline: Timeline) -> None:
        with gc_paused():
            tree = await asyncio.to_thread(TimelineTree, timeline)
        if self._loading is not timeline:
            return
        for update in self._updates:
            _, in_order = tree.update(update)
            tree = tree if in_order else tree.rebuild()
        self.stop()
        self._show(tree)
