"""Fixtures that open the app with the timeline pane and a fake engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.wire.commands import ShowTimeline
from tests.tui.conftest import AppHarness
from tests.tui.timeline.sample_timeline import MESSAGES, NOW, TIMELINE


@pytest.fixture
def open_timeline(open_app: Any) -> Any:
    """Return a context manager that opens the app and loads the timeline pane.

    Use it as `async with open_timeline() as harness`.
    """

    @asynccontextmanager
    async def open_app_with_timeline(
        size: tuple[int, int] = (100, 24), **options: Any
    ) -> AsyncIterator[AppHarness]:
        async with open_app(size=size, wall_clock=lambda: NOW, **options) as harness:
            await harness.send(*MESSAGES)
            await harness.driver.press("f3")
            await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
            harness.engine.send(TIMELINE)
            await harness.wait_until(lambda: harness.screen.query_one(TimelineView).rows.all)
            await harness.driver.pause()
            yield harness

    return open_app_with_timeline
