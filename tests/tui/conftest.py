"""The app over a wire whose engine the test plays."""

import asyncio
import subprocess
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
from kimi_tui.tui.screen import MainScreen
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import Command, RunSlash, Shutdown
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo, StatusUpdate
from kimi_tui.wire.requests import Answer, Request
from tests.patience import PATIENCE_S
from tests.tui.hand import Hand

SESSION = SessionInfo(
    session_id="s1",
    work_dir="/work/shop",
    title="fix login",
    model="kimi-k2",
    model_kind="kimi",
    agent="default",
    models=("kimi-k2", "opus"),
    slash_commands=(SlashCommandInfo("clear", "Start over"), SlashCommandInfo("title", "Name this session")),
)


class FakeClock:
    """A clock that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class FakeClipboard:
    """A clipboard of a system that may lack one."""

    def __init__(self, *, works: bool = True) -> None:
        self.text: str | None = None
        self.picture: bytes | None = None
        self.works = works

    async def copy(self, text: str) -> bool:
        if self.works:
            self.text = text
        return self.works

    async def paste(self) -> str | None:
        return self.text if self.works else None

    async def paste_picture(self) -> bytes | None:
        return self.picture if self.works else None


class FakeEngine:
    """Remembers what it is told; says what the test makes it say."""

    def __init__(
        self, wire: Wire, *, session: SessionInfo = SESSION, error: KimiTuiError | None = None
    ) -> None:
        self._wire = wire
        self._session = session
        self._error = error
        self.commands: list[Command] = []
        self.answers: list[Answer] = []
        self.deaf = False
        """Whether it ignores a Shutdown."""
        self.goes_on: asyncio.Future[None] | None = None
        """What its own commands take until they are carried out."""
        self.held: asyncio.Future[None] | None = None
        """What it waits for, once it is told to end."""

    async def serve(self) -> None:
        if self._error is not None:
            raise self._error
        self._wire.send(self._session)
        self._wire.send(StatusUpdate(context_tokens=0, max_context_tokens=200_000))
        async for command in self._wire.commands():
            self.commands.append(command)
            if isinstance(command, RunSlash) and self.goes_on is not None:
                self._wire.goes_on(self.goes_on)
            if isinstance(command, Shutdown) and not self.deaf:
                break
        if self.held is not None:
            await self.held
        self._wire.close()

    def say(self, *messages: Outgoing) -> None:
        for message in messages:
            self._wire.send(message)

    async def ask(self, request: Request) -> None:
        self.answers.append(await self._wire.ask(request))


@dataclass
class Desk:
    """An app that runs, and both of its ends."""

    app: KimiTuiApp
    pilot: Hand
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

    def shown(self) -> str:
        """What stands on the screen, as text."""
        width, height = self.app.size
        # A dialog that has just been opened is not laid out yet.
        strips = self.app.screen._compositor.render_strips()[:height]
        return "\n".join(strip.text[:width].rstrip() for strip in strips)

    def words(self) -> str:
        """The same, as if no line had been broken."""
        return " ".join(self.shown().replace("▌", " ").split())

    def toasts(self) -> str:
        """What was said and has not passed yet."""
        return " ".join(notification.message for notification in self.app._notifications)

    async def until(self, condition: Callable[[], Any]) -> None:
        """Let the app work until `condition` holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"it never came to that; the screen shows:\n{self.shown()}"
            await self.pilot.pause()
            await asyncio.sleep(0.005)

    async def write(self, text: str) -> None:
        await self.pilot.press(*(_KEYS.get(letter, letter) for letter in text))

    async def say(self, *messages: Outgoing) -> None:
        """The engine says something, and the screen has shown it."""
        before = self.screen.state
        self.engine.say(*messages)
        await self.until(lambda: self.screen.state is not before)
        await self.pilot.pause()

    def ask(self, request: Request) -> None:
        """The engine asks; its answer comes to `engine.answers`."""
        self.tasks.append(asyncio.create_task(self.engine.ask(request)))

    def told(self, kind: Any) -> list[Any]:
        """Commands of one kind that the engine was given."""
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
def dead_pid() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


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
        share_dir=tmp_path / "share",
        theme="dark",
        reduced_motion=True,
        images="blocks",
        version="1.0",
        clipboard=clipboard,
        clock=clock,
        letter_pause_s=0,
    )


@pytest.fixture
def open_desk(options: TuiOptions, clock: FakeClock, clipboard: FakeClipboard) -> Any:
    """Opens the app: `async with open_desk() as desk`."""

    @asynccontextmanager
    async def opened(
        *,
        size: tuple[int, int] = (100, 30),
        session: SessionInfo = SESSION,
        error: KimiTuiError | None = None,
        **changes: Any,
    ) -> AsyncIterator[Desk]:
        wire = Wire()
        engine = FakeEngine(wire, session=session, error=error)
        app = KimiTuiApp(wire=wire, start=engine.serve, options=replace(options, **changes))
        async with app.run_test(size=size, notifications=True):
            desk = Desk(app, Hand(app), engine, clock, clipboard)
            await desk.until(lambda: desk.screen.state.session is not None or error is not None)
            await desk.pilot.pause()
            yield desk
            app.workers.cancel_all()  # as an app does that ends by itself, before its widgets go
            for task in desk.tasks:
                task.cancel()
            wire.close()

    return opened
