"""A bare app around the conversation pane, fed by hand."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import ClassVar

import pytest
from textual.app import App, ComposeResult

from kimi_tui.base.assets import asset_path
from kimi_tui.tui.transcript.transcript import Transcript
from tests.tui.hand import Hand


class FakeClock:
    """A clock that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Host(App[None]):
    """Nothing but a transcript; remembers what the transcript posts."""

    CSS_PATH: ClassVar = [asset_path("styles", "transcript.tcss")]

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.transcript = Transcript(clock=clock)
        self.posted: list[object] = []
        self.commands: list[Transcript.CommandWanted] = []

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_mount(self) -> None:
        self.transcript.focus()

    def on_transcript_link_clicked(self, message: Transcript.LinkClicked) -> None:
        self.posted.append(message)

    def on_transcript_pager_wanted(self, message: Transcript.PagerWanted) -> None:
        self.posted.append(message)

    def on_transcript_copy_wanted(self, message: Transcript.CopyWanted) -> None:
        self.posted.append(message)

    def on_transcript_block_chosen(self, message: Transcript.BlockChosen) -> None:
        self.posted.append(message)

    def on_transcript_command_wanted(self, message: Transcript.CommandWanted) -> None:
        self.commands.append(message)

    def on_transcript_search_wanted(self, message: Transcript.SearchWanted) -> None:
        self.posted.append(message)


class Stage:
    """The running host with shorthands for what a test looks at."""

    def __init__(self, host: Host, pilot: Hand, clock: FakeClock) -> None:
        self.host = host
        self.pilot = pilot
        self.clock = clock
        self.transcript = host.transcript

    async def feed(self, *messages: object) -> list[str]:
        """Show `messages` in one batch; the rows on the screen."""
        self.transcript.show_all(messages)  # type: ignore[arg-type]
        self.transcript.flush()
        await self.pilot.pause()
        return self.rows()

    def rows(self) -> list[str]:
        """The screen as text, without trailing blanks."""
        height = self.transcript.size.height
        return [self.transcript.render_line(y).text.rstrip() for y in range(height)]

    def text(self) -> str:
        """The screen as one string."""
        return "\n".join(self.rows())

    async def press(self, *keys: str) -> list[str]:
        """Press keys; the rows on the screen."""
        await self.pilot.press(*keys)
        await self.pilot.pause()
        return self.rows()


OpenStage = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture
def stage() -> OpenStage:
    """Opens a transcript: `async with stage(60, 20) as s`."""

    @asynccontextmanager
    async def opened(width: int = 60, height: int = 20) -> AsyncIterator[Stage]:
        clock = FakeClock()
        host = Host(clock)
        async with host.run_test(size=(width, height)):
            pilot = Hand(host)
            await pilot.pause()
            yield Stage(host, pilot, clock)

    return opened
