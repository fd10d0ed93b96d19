"""Fixtures that run the app with a fake engine."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.screen.main_screen import MainScreen
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import Command, RunSlash, Shutdown
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo, StatusUpdate
from kimi_tui.wire.requests import Answer, Request
from kimi_tui.wire.session import ModelDetails
from tests.timeouts import TEST_TIMEOUT_S
from tests.tui.app_driver import AppDriver

SESSION = SessionInfo(
    session_id="s1",
    work_dir="/work/shop",
    title="fix login",
    model="kimi-k2",
    model_kind="kimi",
    agent="default",
    models=("kimi-k2", "opus"),
    model_details=(
        ModelDetails(
            name="kimi-k2",
            model="kimi-k2-0905",
            provider="kimi",
            max_context_size=262_144,
            input_price=0.6,
            output_price=2.5,
            thinking_levels=("off", "high"),
        ),
        ModelDetails(
            name="opus",
            model="claude-opus-5",
            provider="anthropic",
            max_context_size=200_000,
            capabilities=("image_in", "thinking"),
            thinking_levels=("off", "low", "medium", "high"),
        ),
    ),
    thinking_levels=("off", "low", "medium", "high"),
    slash_commands=(SlashCommandInfo("clear", "Start over"), SlashCommandInfo("title", "Name this session")),
)


class FakeClock:
    """A clock that advances only when a test sets `now`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class FakeClipboard:
    """A clipboard that may be unavailable."""

    def __init__(self, *, is_available: bool = True) -> None:
        self.text: str | None = None
        self.image: bytes | None = None
        self.is_available = is_available

    async def copy(self, text: str) -> bool:
        if self.is_available:
            self.text = text
        return self.is_available

    async def paste(self) -> str | None:
        return self.text if self.is_available else None

    async def paste_image(self) -> bytes | None:
        return self.image if self.is_available else None


class FakeEngine:
    """An engine that records commands and answers, and sends the messages of the test."""

    def __init__(
        self, wire: Wire, *, session: SessionInfo = SESSION, error: KimiTuiError | None = None
    ) -> None:
        self._wire = wire
        self._session = session
        self._error = error
        self.commands: list[Command] = []
        self.answers: list[Answer] = []
        self.ignores_shutdown = False
        """Whether it ignores Shutdown."""
        self.command_done: asyncio.Future[None] | None = None
        """Set to delay the completion of its slash commands."""
        self.shutdown_gate: asyncio.Future[None] | None = None
        """Set to delay its end after Shutdown."""

    async def serve(self) -> None:
        if self._error is not None:
            raise self._error
        self._wire.send(self._session)
        self._wire.send(StatusUpdate(context_tokens=0, max_context_tokens=200_000))
        async for command in self._wire.commands():
            self.commands.append(command)
            if isinstance(command, RunSlash) and self.command_done is not None:
                self._wire.defer_completion(self.command_done)
            if isinstance(command, Shutdown) and not self.ignores_shutdown:
                break
        if self.shutdown_gate is not None:
            await self.shutdown_gate
        self._wire.close()

    def send(self, *messages: Outgoing) -> None:
        for message in messages:
            self._wire.send(message)

    async def ask(self, request: Request) -> None:
        self.answers.append(await self._wire.ask(request))


@dataclass
class AppHarness:
    """A running app with its fake engine and the driver that presses keys."""

    app: KimiTuiApp
    driver: AppDriver
    engine: FakeEngine
    clock: FakeClock
    clipboard: FakeClipboard
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)

    @property
    def screen(self) -> MainScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    @property
    def prompt_text(self) -> str:
        return self.screen.prompt.editor.text

    def screen_text(self) -> str:
        """Return the screen's content as text."""
        width, height = self.app.size
        # A dialog that has just been opened isn't laid out yet.
        strips = self.app.screen._compositor.render_strips()[:height]
        return "\n".join(strip.text[:width].rstrip() for strip in strips)

    def unwrapped_text(self) -> str:
        """Return the screen's content with its line breaks replaced by spaces."""
        return " ".join(self.screen_text().replace("▌", " ").split())

    def toast_text(self) -> str:
        """Return the text of all visible notifications."""
        return " ".join(notification.message for notification in self.app._notifications)

    async def wait_until(self, condition: Callable[[], Any]) -> None:
        """Run the app until `condition` holds."""
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, f"timed out; the screen shows:\n{self.screen_text()}"
            await self.driver.pause()
            await asyncio.sleep(0.005)

    async def type_text(self, text: str) -> None:
        await self.driver.press(*(_KEYS.get(letter, letter) for letter in text))

    async def send(self, *messages: Outgoing) -> None:
        """Send messages from the engine and wait until they are shown."""
        before = self.screen.state
        self.engine.send(*messages)
        await self.wait_until(lambda: self.screen.state is not before)
        transcript = self.screen.front_end.transcript
        await self.wait_until(lambda: transcript is None or not transcript.is_busy)
        await self.driver.pause()

    def ask(self, request: Request) -> None:
        """Send a request from the engine. Its answer is added to `engine.answers`."""
        self.tasks.append(asyncio.create_task(self.engine.ask(request)))

    def commands_of(self, kind: Any) -> list[Any]:
        """Return the commands of one type that the engine received."""
        return [command for command in self.engine.commands if isinstance(command, kind)]


_KEYS = {
    " ": "space",
    "/": "slash",
    "@": "at",
    "\n": "ctrl+j",
    ".": "full_stop",
    "-": "minus",
    "_": "underscore",
}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def clipboard() -> FakeClipboard:
    return FakeClipboard()


@pytest.fixture
def options(tmp_path: Path, clock: FakeClock, clipboard: FakeClipboard) -> TuiOptions:
    work_dir = tmp_path / "shop"
    work_dir.mkdir()
    return TuiOptions(
        work_dir=work_dir,
        data_dir=tmp_path / "share",
        theme="dark",
        reduced_motion=True,
        images="blocks",
        version="1.0",
        clipboard=clipboard,
        clock=clock,
        letter_pause_s=0,
    )


@pytest.fixture
def open_app(options: TuiOptions, clock: FakeClock, clipboard: FakeClipboard) -> Any:
    """Opens the app: `async with open_app() as harness`."""

    @asynccontextmanager
    async def open_app_harness(
        *,
        size: tuple[int, int] = (100, 30),
        session: SessionInfo = SESSION,
        error: KimiTuiError | None = None,
        **changes: Any,
    ) -> AsyncIterator[AppHarness]:
        wire = Wire()
        engine = FakeEngine(wire, session=session, error=error)
        app = KimiTuiApp(wire=wire, start=engine.serve, options=replace(options, **changes))
        async with app.run_test(size=size, notifications=True):
            harness = AppHarness(app, AppDriver(app), engine, clock, clipboard)
            await harness.wait_until(lambda: harness.screen.state.session is not None or error is not None)
            await harness.driver.pause()
            yield harness
            app.workers.cancel_all()  # before the widgets are removed, as when the app exits on its own
            for task in harness.tasks:
                task.cancel()
            wire.close()

    return open_app_harness
