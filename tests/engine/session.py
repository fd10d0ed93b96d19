"""A session through the engine: real tools, a scripted model, and a listener on the Wire."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from kimi_tui.config.settings import Checkpoints, Model, Provider, Settings
from kimi_tui.engine.build import open_engine
from kimi_tui.engine.options import EngineOptions
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import Command, Prompt, Shutdown
from kimi_tui.wire.events import SessionInfo, TurnEnd
from tests.patience import PATIENCE_S

E = TypeVar("E")


def calls(*tools: tuple[str, dict[str, Any]]) -> str:
    """A script of one model call that calls tools."""
    return "\n".join(
        "tool_call: " + json.dumps({"id": f"call-{number}", "name": name, "arguments": json.dumps(arguments)})
        for number, (name, arguments) in enumerate(tools)
    )


def says(text: str) -> str:
    """A script of one model call that answers."""
    return f"text: {text}"


class Talk:
    """The user's side of one running engine."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._subscription = wire.subscribe()
        self.heard: list[Outgoing] = []

    async def ask(self, text: str) -> None:
        """Say something and wait until the turn is over."""
        self._wire.command(Prompt(text))
        end = await self.next(TurnEnd)
        assert end.outcome == "finished", end

    async def do(self, command: Command, answer: type[E]) -> E:
        """Give a command and wait for what it brings about."""
        self._wire.command(command)
        return await self.next(answer)

    async def carry_out(self, command: Command) -> None:
        """Give a command and hear everything up to its end."""
        async with asyncio.timeout(PATIENCE_S):
            await self._wire.carry_out(command)
        self.heard += self._subscription.take()

    def command(self, command: Command) -> None:
        """Give a command."""
        self._wire.command(command)

    async def next(self, kind: type[E]) -> E:
        """The next event of a kind."""
        seen = len(self.heard)
        while True:
            for message in self.heard[seen:]:
                if isinstance(message, kind):
                    return message
            seen = len(self.heard)
            async with asyncio.timeout(PATIENCE_S):
                batch = await self._subscription.drain()
            assert batch, "the Wire is closed"
            self.heard += batch

    def all(self, kind: type[E]) -> list[E]:
        return [message for message in self.heard if isinstance(message, kind)]


@asynccontextmanager
async def session(
    work_dir: Path,
    share_dir: Path,
    *scripts: str,
    continue_last: bool = False,
    session_id: str | None = None,
    checkpoints: Checkpoints = Checkpoints(),
    additional_dirs: tuple[Path, ...] = (),
) -> AsyncIterator[Talk]:
    """Run a session whose model plays `scripts`."""
    script_file = share_dir / "scripts.json"
    share_dir.mkdir(parents=True, exist_ok=True)
    script_file.write_text(json.dumps(scripts))
    settings = Settings(
        checkpoints=checkpoints,
        default_model="scripted",
        providers={"script": Provider(type="scripted", scripts=str(script_file))},
        models={"scripted": Model(provider="script", model="scripted", max_context_size=100_000)},
    )
    wire = Wire()
    talk = Talk(wire)
    options = EngineOptions(
        settings=settings,
        share_dir=share_dir,
        work_dir=work_dir,
        additional_dirs=additional_dirs,
        yolo=True,
        continue_last=continue_last,
        session_id=session_id,
    )
    engine = await open_engine(wire, options)
    serving = asyncio.create_task(engine.serve())
    try:
        await talk.next(SessionInfo)
        yield talk
    finally:
        wire.command(Shutdown())
        await serving
