"""How a tree grows from what the engine told: a large one beside the screen, which goes on meanwhile."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.screen import Screen

from kimi_tui.base.collection import uncollected
from kimi_tui.tui.timeline.tree import Tree
from kimi_tui.wire.timeline import Timeline, TimelineUpdate

_AT_ONCE = 2_000
"""Checkpoints that are arranged within a frame."""


class Growth:
    """Has trees shown as they are ready, each with what was told since."""

    def __init__(self, *, screen: Screen[Any], show: Callable[[Tree], None]) -> None:
        self._screen = screen
        self._show = show
        self._arranged: Timeline | None = None
        """What is being arranged."""
        self._since: list[TimelineUpdate] = []
        """What was told since."""

    def grow(self, timeline: Timeline) -> None:
        """Arrange a timeline; one that is being arranged is out of date."""
        self.stop()
        if len(timeline.nodes) > _AT_ONCE:
            self._arranged = timeline
            self._screen.run_worker(self._arrange(timeline), group="timeline-growth")
        else:
            with uncollected():
                tree = Tree(timeline)
            self._show(tree)

    def update(self, update: TimelineUpdate) -> None:
        """Remember what is new for the tree that is being arranged."""
        if self._arranged is not None:
            self._since.append(update)

    def stop(self) -> None:
        """Show nothing of what is being arranged."""
        self._arranged = None
        self._since.clear()

    async def _arrange(self, timeline: Timeline) -> None:
        with uncollected():
            tree = await asyncio.to_thread(Tree, timeline)
        if self._arranged is not timeline:
            return
        for update in self._since:
            _, in_order = tree.update(update)
            tree = tree if in_order else tree.rebuilt()
        self.stop()
        self._show(tree)
