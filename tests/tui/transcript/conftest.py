"""Minimal app with a conversation pane, and a harness for its tests."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import ClassVar

import pytest
from textual.app import App, ComposeResult

from kimi_tui.base.assets import asset_path
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.tui.transcript.transcript import Transcript
from tests.tui.app_driver import AppDriver


class FakeClock:
    """Clock that moves only when a test sets `now`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class TranscriptApp(App[None]):
    """App with nothing but a transcript; records the messages it posts."""

    CSS_PATH: ClassVar = [asset_path("styles", "transcript.tcss")]

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.transcript = Transcript(clock=clock)
        self.posted: list[object] = []
        self.commands: list[Transcript.CommandRequested] = []

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_mount(self) -> None:
        self.transcript.focus()

    def on_transcript_link_clicked(self, message: Transcript.LinkClicked) -> None:
        self.posted.append(message)

    def on_transcript_pager_requested(self, message: Transcript.PagerRequested) -> None:
        self.posted.append(message)

    def on_transcript_copy_requested(self, message: Transcript.CopyRequested) -> None:
        self.posted.append(message)

    def on_transcript_block_selected(self, message: Transcript.BlockSelected) -> None:
        self.posted.append(message)

    def on_transcript_command_requested(self, message: Transcript.CommandRequested) -> None:
        self.commands.append(message)

    def on_transcript_search_requested(self, message: Transcript.SearchRequested) -> None:
        self.posted.append(message)


class TranscriptHarness:
    """Running app with helpers for the visible rows."""

    def __init__(self, app: TranscriptApp, driver: AppDriver, clock: FakeClock) -> None:
        self.app = app
        self.driver = driver
        self.clock = clock
        self.transcript = app.transcript

    async def feed(self, *messages: object) -> list[str]:
        """Show `messages` in one batch. Return the rows on the screen."""
        self.transcript.show_all(MessageBatch(messages).conversation)  # type: ignore[arg-type]
        self.transcript.flush()
        await self.driver.pause()
        return self.rows()

    def rows(self) -> list[str]:
        """Return the screen as text, without trailing blanks."""
        height = self.transcript.size.height
        return [self.transcript.render_line(y).text.rstrip() for y in range(height)]

    def text(self) -> str:
        """Return the screen as one string."""
        return "\n".join(self.rows())

    async def press(self, *keys: str) -> list[str]:
        """Press keys. Return the rows on the screen."""
        await self.driver.press(*keys)
        await self.driver.pause()
        return self.rows()


OpenTranscript = Callable[..., AbstractAsyncContextManager[TranscriptHarness]]


@pytest.fixture
def open_transcript() -> OpenTranscript:
    """Return a context manager that opens a transcript: `async with open_transcript(60, 20) as s`."""

    @asynccontextmanager
    async def open_transcript_app(width: int = 60, height: int = 20) -> AsyncIterator[TranscriptHarness]:
        clock = FakeClock()
        app = TranscriptApp(clock)
        async with app.run_test(size=(width, height)):
            driver = AppDriver(app)
            await driver.pause()
            yield TranscriptHarness(app, driver, clock)

    return open_transcript_app
