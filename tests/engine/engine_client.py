"""Client of an engine with real tools and a scripted model."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from kimi_tui.config.settings import (
    CheckpointSettings,
    CheckSettings,
    ModelPrice,
    ModelSettings,
    ProviderConfig,
    Settings,
    WorkspaceSettings,
)
from kimi_tui.engine.build.engine import build_engine
from kimi_tui.engine.options import EngineOptions
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import Command, Prompt, Shutdown
from kimi_tui.wire.events import SessionInfo, TurnEnd
from kimi_tui.wire.requests import Answer
from tests.timeouts import TEST_TIMEOUT_S

E = TypeVar("E")


def tool_calls(*tools: tuple[str, dict[str, Any]]) -> str:
    """Return a script for one model call that calls tools."""
    return "\n".join(
        "tool_call: " + json.dumps({"id": f"call-{number}", "name": name, "arguments": json.dumps(arguments)})
        for number, (name, arguments) in enumerate(tools)
    )


def text_reply(text: str) -> str:
    """Return a script for one model call with a text response."""
    return f"text: {text}"


class EngineClient:
    """Sends commands to a running engine and collects its events."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._subscription = wire.subscribe()
        self.events: list[Outgoing] = []

    async def ask(self, text: str) -> None:
        """Send a prompt and wait for the end of the turn."""
        self._wire.command(Prompt(text))
        end = await self.next(TurnEnd)
        assert end.outcome == "finished", end

    async def run_command(self, command: Command, answer: type[E]) -> E:
        """Send a command and return the next event of type `answer`."""
        self._wire.command(command)
        return await self.next(answer)

    async def command_and_wait(self, command: Command) -> None:
        """Send a command, wait for its completion, and collect the events until then."""
        async with asyncio.timeout(TEST_TIMEOUT_S):
            await self._wire.command_and_wait(command)
        self.events += self._subscription.pop_pending()

    def answer(self, answer: Answer) -> None:
        """Answer a request."""
        assert self._wire.answer(answer)

    def command(self, command: Command) -> None:
        """Send a command."""
        self._wire.command(command)

    async def next(self, kind: type[E]) -> E:
        """Return the next event of a type."""
        seen = len(self.events)
        while True:
            for message in self.events[seen:]:
                if isinstance(message, kind):
                    return message
            seen = len(self.events)
            async with asyncio.timeout(TEST_TIMEOUT_S):
                batch = await self._subscription.drain()
            assert batch, "the Wire is closed"
            self.events += batch

    def all(self, kind: type[E]) -> list[E]:
        return [message for message in self.events if isinstance(message, kind)]


@asynccontextmanager
async def session(
    work_dir: Path,
    data_dir: Path,
    *scripts: str,
    continue_last: bool = False,
    session_id: str | None = None,
    checkpoints: CheckpointSettings = CheckpointSettings(),
    checks: CheckSettings = CheckSettings(),
    workspaces: WorkspaceSettings = WorkspaceSettings(),
    additional_dirs: tuple[Path, ...] = (),
    price: ModelPrice | None = None,
    is_configured: bool = True,
) -> AsyncIterator[EngineClient]:
    """Run a session whose model plays `scripts`, and yield its client.

    If `is_configured` is false, there is no model, so the app uses the demo.
    """
    script_file = data_dir / "scripts.json"
    data_dir.mkdir(parents=True, exist_ok=True)
    script_file.write_text(json.dumps(scripts))
    settings = Settings(
        checkpoints=checkpoints,
        checks=checks,
        workspaces=workspaces,
        default_model="scripted",
        providers={"script": ProviderConfig(type="scripted", scripts=str(script_file))},
        models={
            "scripted": ModelSettings(
                provider="script", model="scripted", max_context_size=100_000, price=price
            )
        },
    )
    if not is_configured:
        settings = Settings(checkpoints=checkpoints, checks=checks)
    wire = Wire()
    client = EngineClient(wire)
    options = EngineOptions(
        settings=settings,
        data_dir=data_dir,
        work_dir=work_dir,
        additional_dirs=additional_dirs,
        yolo=True,
        continue_last=continue_last,
        session_id=session_id,
    )
    engine = await build_engine(wire, options)
    serving = asyncio.create_task(engine.serve())
    try:
        await client.next(SessionInfo)
        yield client
    finally:
        wire.command(Shutdown())
        await serving
