"""Print mode with an engine that plays scripted events."""

import asyncio
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.print_mode import run_print
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Command, Prompt, RunSlash, Shutdown
from kimi_tui.wire.events import (
    SessionInfo,
    SlashCommandInfo,
    StepBegin,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import Request

IGNORE_INTERRUPT = object()
"""In a turn: ignore interrupts and shutdown until the engine is canceled."""
HANG = object()
"""In a turn: wait until the turn is canceled."""

SESSION = SessionInfo(
    session_id="s-1",
    work_dir="/work",
    title="",
    model="kimi",
    model_kind="scripted",
    agent="default",
    slash_commands=(SlashCommandInfo("clear", "Start over", ("reset",)),),
)


class FakeEngine:
    """Plays one list of events per prompt, and records commands and answers."""

    def __init__(
        self, wire: Wire, turns: Sequence[Sequence[Any]], *, opening: Sequence[Any] = (SESSION,)
    ) -> None:
        self._wire = wire
        self._turns = list(turns)
        self._opening = opening
        self._turn: asyncio.Task[None] | None = None
        self.commands: list[Command] = []
        self.answers: list[Any] = []
        self.hanging = asyncio.Event()
        self.ignores_shutdown = False

    async def serve(self) -> None:
        for event in self._opening:
            self._wire.send(event)
        async for command in self._wire.commands():
            self.commands.append(command)
            match command:
                case Prompt(user_input=user_input):
                    self._turn = asyncio.create_task(self._play(user_input))
                case RunSlash():
                    for event in self._turns.pop(0) if self._turns else ():
                        self._wire.send(event)
                case Shutdown() if self.ignores_shutdown:
                    await asyncio.Event().wait()
                case Shutdown():
                    break
        if self._turn is not None:
            self._turn.cancel()
            await asyncio.wait([self._turn])
        self._wire.close()

    async def _play(self, user_input: Any) -> None:
        self._wire.send(TurnBegin(user_input))
        end = TurnEnd()
        try:
            for event in self._turns.pop(0):
                if event is IGNORE_INTERRUPT:
                    self.ignores_shutdown = True
                    self.hanging.set()
                    await asyncio.Event().wait()
                elif event is HANG:
                    self.hanging.set()
                    await asyncio.Event().wait()
                elif isinstance(event, TurnEnd):
                    end = event
                elif isinstance(event, Request):
                    self.answers.append(await self._wire.ask(event))
                else:
                    self._wire.send(event)
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            end = TurnEnd("cancelled")
        self._wire.send(end)


class Sink(io.BytesIO):
    """A stream in memory."""

    @property
    def text(self) -> str:
        return self.getvalue().decode()

    @property
    def objects(self) -> list[Any]:
        return [json.loads(line) for line in self.text.splitlines()]


@dataclass
class PrintRun:
    """A run of print mode."""

    wire: Wire = field(default_factory=Wire)
    stdout: Any = field(default_factory=Sink)
    stderr: Sink = field(default_factory=Sink)
    interruption: ProcessInterrupt = field(default_factory=ProcessInterrupt)
    engine: FakeEngine | None = None
    exit_code: int = -1

    async def play(
        self,
        *turns: Sequence[Any],
        stdin: bytes | None = None,
        start: Any = None,
        opening: Any = (SESSION,),
        **options: Any,
    ) -> "PrintRun":
        self.engine = FakeEngine(self.wire, turns, opening=opening)
        options.setdefault("prompt", "hello" if options.get("input_format") != "stream-json" else "")
        self.exit_code = await run_print(
            self.wire,
            PrintOptions(version="1.2", **options),
            start=start or self.engine.serve,
            stdin=None if stdin is None else io.BytesIO(stdin),
            stdout=self.stdout,
            stderr=self.stderr,
            interruption=self.interruption,
        )
        return self

    @property
    def result(self) -> dict[str, Any]:
        """The result, from the last line."""
        return self.stdout.objects[-1]

    @property
    def sent(self) -> list[Any]:
        """The prompts that the engine received."""
        return [command.user_input for command in self.engine.commands if isinstance(command, Prompt)]


@pytest.fixture
async def run() -> PrintRun:
    return PrintRun()


def call(call_id: str, name: str = "Bash", **arguments: Any) -> ToolCall:
    """Build a tool call."""
    return ToolCall(call_id, FunctionCall(name, json.dumps(arguments)))


def result(call_id: str, output: str = "done", **fields: Any) -> ToolResult:
    """Build a tool result."""
    return ToolResult(call_id, ToolReturn(output=output, **fields))


STEP = StepBegin(1)
