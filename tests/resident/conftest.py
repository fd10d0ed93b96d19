"""A resident engine on a real socket, whose sessions play what the tests send."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.resident.editor_link import EditorLink
from kimi_tui.resident.remote_engine import RemoteEngine
from kimi_tui.resident.serve import listen_for_clients, serve_sessions
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import Command, Prompt, Shutdown
from kimi_tui.wire.events import SessionInfo, TextPart, TurnBegin, TurnEnd
from kimi_tui.wire.requests import Answer, Request

VERSION = "1.2"


def session_info(session_id: str = "s-1", **fields: Any) -> SessionInfo:
    """Build the information about a session."""
    return SessionInfo(session_id, "/work", "fix it", "kimi", "scripted", "default", resident=True, **fields)


@dataclass(eq=False)
class PlayedSession:
    """The engine of one session: a turn ends when the test says so."""

    wire: Wire
    info: SessionInfo
    editor: EditorLink = field(default_factory=EditorLink)
    commands: list[Command] = field(default_factory=list)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self) -> None:
        self.wire.send(self.info)
        self.opened.set()
        async for command in self.wire.commands():
            self.commands.append(command)
            match command:
                case Prompt(user_input=user_input):
                    self.wire.send(TurnBegin(user_input))
                case Shutdown():
                    break
                case _:
                    await self.handle(command)

    async def handle(self, command: Command) -> None:
        """Handle another command."""

    def run_turn(self, prompt: str, *messages: Outgoing) -> None:
        for message in (TurnBegin(prompt), *messages, TurnEnd()):
            self.wire.send(message)


@dataclass
class PlayedSessions:
    """Opener whose sessions are played by the test."""

    sessions: dict[str, PlayedSession] = field(default_factory=dict)
    failure: KimiTuiError | None = None
    build: type[PlayedSession] = PlayedSession

    def find(self, options: dict[str, Any]) -> str | None:
        return options.get("session")

    async def serve(self, wire: Wire, options: dict[str, Any], editor: EditorLink) -> None:
        if self.failure is not None:
            raise self.failure
        session_id = options.get("session") or f"new-{len(self.sessions)}"
        session = self.sessions[session_id] = self.build(wire, session_info(session_id))
        session.editor = editor
        await session.serve()


class Client:
    """A client of a session, which records what it gets."""

    def __init__(self, engine: RemoteEngine) -> None:
        self.wire = Wire()
        self._subscription: Subscription = self.wire.subscribe(merges=False)
        self._serving = asyncio.ensure_future(engine.serve(self.wire))
        self.received: list[Outgoing] = []

    async def wait_for(self, last: Outgoing) -> list[Outgoing]:
        """Return all messages so far, up to `last`."""
        async with asyncio.timeout(20):
            while last not in self.received:
                batch = await self._subscription.drain()
                assert batch, f"the session ended before {last}"
                self.received += batch
        return self.received

    async def drain(self) -> list[Outgoing]:
        """Return the next messages without recording them."""
        return await self._subscription.drain()

    async def wait_for_request(self) -> Request:
        async with asyncio.timeout(20):
            while not (requests := [it for it in self.received if isinstance(it, Request)]):
                self.received += await self._subscription.drain()
        return requests[-1]

    def answer(self, answer: Answer) -> bool:
        return self.wire.answer(answer)

    async def end(self) -> None:
        """Wait until the connection ends. Raises the error that ended it."""
        async with asyncio.timeout(20):
            await self._serving

    async def detach(self) -> None:
        self.wire.command(Shutdown())
        await self.end()

    def cut(self) -> None:
        """Cut the connection."""
        self._serving.cancel()


@dataclass
class ResidentEngine:
    """A running engine and its clients."""

    data_dir: Path
    opener: PlayedSessions
    running: "asyncio.Task[None]"
    interruption: ProcessInterrupt
    clients: list[Client] = field(default_factory=list)

    async def attach(
        self, session: str = "s-1", *, version: str = VERSION, is_viewer: bool = False
    ) -> Client:
        options = {"session": session} if session else {}
        client = Client(
            RemoteEngine(data_dir=self.data_dir, version=version, options=options, is_viewer=is_viewer)
        )
        self.clients.append(client)
        await asyncio.sleep(0)
        return client

    async def open(self, session: str = "s-1") -> tuple[Client, PlayedSession]:
        """Attach the first client, and return the session as well."""
        client = await self.attach(session)
        await client.wait_for(session_info(session))
        return client, self.opener.sessions[session]


@asynccontextmanager
async def start_engine(data_dir: Path, *, idle_s: float = 60.0) -> AsyncIterator[ResidentEngine]:
    opener, interruption = PlayedSessions(), ProcessInterrupt()
    with listen_for_clients(data_dir) as listener:
        running = asyncio.ensure_future(
            serve_sessions(listener, opener=opener, version=VERSION, interruption=interruption, idle_s=idle_s)
        )
        engine = ResidentEngine(data_dir, opener, running, interruption)
        try:
            yield engine
        finally:
            for client in engine.clients:
                client.cut()
            interruption.request_stop(15)
            async with asyncio.timeout(20):
                await running


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A directory whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
async def engine(data_dir: Path) -> AsyncIterator[ResidentEngine]:
    async with start_engine(data_dir) as running:
        yield running


def text_turn(text: str) -> TextPart:
    """Build a response."""
    return TextPart(text)
