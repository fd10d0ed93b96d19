"""The linear front with somebody who types what a test says."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tui.linear.desk import SessionChange
from kimi_tui.tui.linear.front import LinearFront, LinearOptions
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import SessionInfo
from tests.patience import PATIENCE_S
from tests.tui.conftest import SESSION, FakeClock, FakeEngine


class FakeLines:
    """A terminal in lines: what was written to it, and lines that are typed when they are asked for."""

    def __init__(self) -> None:
        self.text = ""
        self.ahead: list[str] = []
        self.signals: list[str] = []
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()
        self.asks = 0
        """How many lines are being waited for: one or none."""
        self.typed = ""
        """What is typed of the line that is asked for."""
        self.is_editable = True

    def open(self, history: Sequence[str], typing: Callable[[], None]) -> None:
        self.history = list(history)
        self._typing = typing

    def close(self) -> None:
        self.text += "(closed)"

    def remember(self, line: str) -> None:
        self.history.append(line)

    async def ask(self, prompt: str, begun: str = "") -> str | None:
        self.text += prompt + begun
        self.typed = begun
        self.asks += 1
        try:
            line = await self._typed.get()
        finally:
            self.asks -= 1
            self.typed = ""
        self.text += "\n" if line is None else f"{line}\n"
        return line

    def typed_ahead(self) -> list[str]:
        ahead, self.ahead = self.ahead, []
        return ahead

    def write(self, text: str) -> None:
        self.text += text

    def signal(self, sequence: str) -> None:
        self.signals.append(sequence)

    def begin(self, text: str) -> None:
        """Type something and not yet enter."""
        self.typed = text
        self._typing()

    def type(self, *lines: str | None) -> None:
        for line in lines:
            self._typed.put_nowait(line)


class Talk:
    """A front that runs, and both of its ends."""

    def __init__(self, front: LinearFront, lines: FakeLines, engine: FakeEngine, clock: FakeClock) -> None:
        self.front = front
        self.lines = lines
        self.engine = engine
        self.clock = clock
        self.ended: asyncio.Task[SessionChange | None] | None = None

    @property
    def heard(self) -> list[str]:
        """The lines so far."""
        return self.lines.text.split("\n")

    async def until(self, condition: Callable[[], Any]) -> None:
        """Let it work until `condition` holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"it never came to that:\n{self.lines.text}"
            await asyncio.sleep(0.002)

    async def asked(self) -> None:
        """Wait until a line is asked for."""
        await self.until(lambda: self.lines.asks)

    def told(self, kind: Any) -> list[Any]:
        """Commands of one kind that the engine was given."""
        return [command for command in self.engine.commands if isinstance(command, kind)]


@pytest.fixture
def open_talk(tmp_path: Path) -> Any:
    """Opens the front: `async with open_talk() as talk`."""

    @asynccontextmanager
    async def opened(
        *, session: SessionInfo = SESSION, error: Any = None, prompts: tuple[str, ...] = ()
    ) -> AsyncIterator[Talk]:
        wire, lines, clock = Wire(), FakeLines(), FakeClock()
        engine = FakeEngine(wire, session=session, error=error)
        options = LinearOptions(
            work_dir=tmp_path,
            share_dir=tmp_path / "share",
            version="1.0",
            prompts=prompts,
            clock=clock,
        )
        front = LinearFront(wire=wire, options=options, lines=lines)
        talk = Talk(front, lines, engine, clock)
        talk.ended = asyncio.create_task(front.run(engine.serve))
        try:
            yield talk
        finally:
            talk.ended.cancel()
            await asyncio.gather(talk.ended, return_exceptions=True)

    return opened
