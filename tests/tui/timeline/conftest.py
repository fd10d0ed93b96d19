"""The app with its timeline open, over a wire whose engine the test plays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.wire.commands import ShowTimeline
from tests.tui.conftest import Desk
from tests.tui.timeline.story import NOW, TALK, TIMELINE


@pytest.fixture
def open_timeline(open_desk: Any) -> Any:
    """Opens the app with the pane shown and filled: `async with open_timeline() as desk`."""

    @asynccontextmanager
    async def opened(size: tuple[int, int] = (100, 24), **options: Any) -> AsyncIterator[Desk]:
        async with open_desk(size=size, wall_clock=lambda: NOW, **options) as desk:
            await desk.say(*TALK)
            await desk.pilot.press("f3")
            await desk.until(lambda: desk.told(ShowTimeline))
            desk.engine.say(TIMELINE)
            await desk.until(lambda: desk.screen.query_one(TimelineView).rows.all)
            await desk.pilot.pause()
            yield desk

    return opened
