"""Linear mode with a scripted user and a fake engine."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.linear.app import LinearApp, LinearOptions
from kimi_tui.linear.command_context import SessionSwitch
from kimi_tui.linear.line_input import LineOwner
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import SessionInfo
from tests.timeouts import TEST_TIMEOUT_S
from tests.tui.conftest import SESSION, FakeClock, FakeEngine


class FakeLineInput:
    """A terminal that records output and returns queued lines."""

    def __init__(self) -> None:
        self.text = ""
        self.pending_lines: list[str] = []
        self.control_sequences: list[str] = []
        self._queued_lines: asyncio.Queue[str | None] = asyncio.Queue()
        self.open_prompts = 0
        """Number of lines being read: 0 or 1."""
        self.current_text = ""
        """The text of the line being typed."""
        self.is_editable = True

    def open(self, history: Sequence[str], owner: LineOwner) -> None:
        self.history = list(history)
        self._owner = owner

    def close(self) -> None:
        self.text += "(closed)"

    def add_history(self, line: str) -> None:
        self.history.append(line)

    async def ask(self, prompt: str, prefill: str = "") -> str | None:
        self.text += prompt + prefill
        self.current_text = prefill
        self.open_prompts += 1
        try:
            line = await self._queued_lines.get()
        finally:
            self.open_prompts -= 1
            self.current_text = ""
        self.text += "\n" if line is None else f"{line}\n"
        return line

    @contextmanager
    def watch(self, notify: Callable[[], None]) -> Iterator[None]:
        self._notify = notify
        yield

    def type_while_busy(self, line: str) -> None:
        """Type a line while none is being read."""
        self.pending_lines.append(line)
        self._notify()

    def read_pending_lines(self) -> list[str]:
        lines, self.pending_lines = self.pending_lines, []
        return lines

    def write(self, text: str) -> None:
        self.text += text

    def send(self, sequence: str) -> None:
        self.control_sequences.append(sequence)

    def start_typing(self, text: str) -> None:
        """Type `text` without pressing enter."""
        self.current_text = text
        self._owner.handle_line_change()

    def type(self, *lines: str | None) -> None:
        for line in lines:
            self._queued_lines.put_nowait(line)


class LinearDriver:
    """A running app with its terminal and engine."""

    def __init__(self, app: LinearApp, lines: FakeLineInput, engine: FakeEngine, clock: FakeClock) -> None:
        self.app = app
        self.lines = lines
        self.engine = engine
        self.clock = clock
        self.run_task: asyncio.Task[SessionSwitch | None] | None = None

    @property
    def output_lines(self) -> list[str]:
        """The lines written so far."""
        return self.lines.text.split("\n")

    async def wait_until(self, condition: Callable[[], Any]) -> None:
        """Wait until `condition` holds."""
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, f"timed out; the output is:\n{self.lines.text}"
            await asyncio.sleep(0.002)

    async def wait_for_prompt(self) -> None:
        """Wait until a line is being read."""
        await self.wait_until(lambda: self.lines.open_prompts)

    def commands_of(self, kind: Any) -> list[Any]:
        """Return the commands of one kind that the engine received."""
        return [command for command in self.engine.commands if isinstance(command, kind)]


@pytest.fixture
def open_linear_app(tmp_path: Path) -> Any:
    """Return a context manager that runs the app: `async with open_linear_app() as driver`."""

    @asynccontextmanager
    async def run_app(
        *,
        session: SessionInfo = SESSION,
        error: Any = None,
        prompts: tuple[str, ...] = (),
        running_sessions: Any = None,
    ) -> AsyncIterator[LinearDriver]:
        wire, lines, clock = Wire(), FakeLineInput(), FakeClock()
        engine = FakeEngine(wire, session=session, error=error)
        options = LinearOptions(
            work_dir=tmp_path,
            data_dir=tmp_path / "data",
            version="1.0",
            prompts=prompts,
            running_sessions=running_sessions,
            clock=clock,
        )
        app = LinearApp(wire=wire, options=options, lines=lines)
        driver = LinearDriver(app, lines, engine, clock)
        driver.run_task = asyncio.create_task(app.run(engine.serve))
        try:
            yield driver
        finally:
            driver.run_task.cancel()
            await asyncio.gather(driver.run_task, return_exceptions=True)

    return run_app
