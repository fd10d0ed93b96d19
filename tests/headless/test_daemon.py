"""The daemon: one session, a result for each line, and nothing but the end of its input ends it."""

import asyncio
import json
import signal
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import ModelNotSet, UsageError
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.output import Output
from kimi_tui.base.output_schema import OutputSchema
from kimi_tui.headless.client import Door, OwnPipes
from kimi_tui.headless.daemon import run_daemon
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.socket_door import listening
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import CostUpdate, Notification, StepBegin, TurnEnd, TurnFailure
from kimi_tui.wire.requests import ApprovalRequest

from .conftest import HANG, FakeEngine, Sink


class Lines:
    """Lines that are there, and an end that comes when it is told to."""

    def __init__(self, *lines: str, stays_open: bool = False) -> None:
        self._lines = [f"{line}\n".encode() for line in lines]
        self._stays_open = stays_open

    def readline(self, longest: int | None = None) -> bytes:
        if self._lines:
            return self._lines.pop(0)
        if self._stays_open:
            threading.Event().wait()
        return b""


def says(text: str) -> list[Any]:
    return [StepBegin(1), TextPart(text)]


@dataclass
class Daemon:
    """A daemon in front of an engine that plays given turns."""

    turns: Sequence[Sequence[Any]] = ()
    wire: Wire = field(default_factory=Wire)
    stdout: Sink = field(default_factory=Sink)
    stderr: Sink = field(default_factory=Sink)
    interruption: Interruption = field(default_factory=Interruption)
    engine: FakeEngine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = FakeEngine(self.wire, self.turns)

    async def run(self, door: Door, *, start: Any = None, **options: Any) -> int:
        options.setdefault("output_format", "json")
        return await run_daemon(
            self.wire,
            PrintOptions(version="1.2", **options),
            start=start or self.engine.serve,
            door=door,
            stderr=self.stderr,
            interruption=self.interruption,
        )

    async def read(self, *lines: str, stays_open: bool = False, **options: Any) -> int:
        door = OwnPipes(Lines(*lines, stays_open=stays_open), Output(self.stdout))
        return await self.run(door, **options)

    @property
    def prompts(self) -> list[Any]:
        return [command.user_input for command in self.engine.commands if hasattr(command, "user_input")]

    @property
    def results(self) -> list[dict[str, Any]]:
        return [line for line in self.stdout.objects if line.get("type") == "result"]


async def test_each_line_is_a_prompt_and_has_its_result() -> None:
    daemon = Daemon([says("one"), [CostUpdate(0.5), *says("two")]])
    assert await daemon.read("first", "", "  second ") == 0
    assert daemon.prompts == ["first", "second"]
    assert [(it["result"], it["turns"], it["steps"]) for it in daemon.results] == [
        ("one", 1, 1),
        ("two", 1, 1),
    ]
    assert {it["session_id"] for it in daemon.results} == {"s-1"}
    assert daemon.results[1]["cost_usd"] == 0.5


async def test_a_failed_turn_ends_nothing_but_itself() -> None:
    failed = TurnEnd("failed", 1, TurnFailure("The server is away.", "Wait.", retryable=True))
    denied = ApprovalRequest("r", "c", "Bash", "run command", "rm -rf x")
    daemon = Daemon([[failed], [StepBegin(1), denied], says("fine")])
    assert await daemon.read("a", "b", "c") == 0
    assert [it["exit_code"] for it in daemon.results] == [75, 4, 0]
    assert [len(it["denials"]) for it in daemon.results] == [0, 1, 0]
    assert "The server is away. Wait." in daemon.stderr.text


async def test_a_line_that_is_no_message_has_a_result_that_says_so() -> None:
    daemon = Daemon([says("fine")])
    lines = ["nonsense", '{"role":"user","content":[{"type":"text","text":"hello"}]}']
    assert await daemon.read(*lines, input_format="stream-json", output_format="stream-json") == 0
    assert daemon.stdout.objects[0]["type"] == "init"
    bad, good = daemon.results
    assert (bad["exit_code"], bad["error"]["what"]) == (2, "Line 1 of the input is not JSON.")
    assert (good["exit_code"], daemon.prompts) == (0, [(TextPart("hello"),)])
    assert {"role": "assistant", "content": "fine"} in daemon.stdout.objects


async def test_what_was_answered_before_is_not_answered_again() -> None:
    failed = TurnEnd("failed", 0, TurnFailure("No."))
    daemon = Daemon([says("one"), [failed]])
    await daemon.read("a", "b")
    assert [it["result"] for it in daemon.results] == ["one", ""]


async def test_a_command_is_run_and_has_its_result_once_all_is_told() -> None:
    refused = Notification("n", "", "", "", "", "Nothing to clear.", "Say something.", severity="error")
    daemon = Daemon([[refused], says("fine")])
    assert await daemon.read("/clear", "hello") == 0
    assert [it["exit_code"] for it in daemon.results] == [1, 0]
    assert daemon.results[0]["error"]["what"] == "Nothing to clear."


async def test_a_command_of_the_app_is_refused_and_the_next_line_answered() -> None:
    daemon = Daemon([says("fine")])
    assert await daemon.read("/theme dark", "hello") == 0
    assert [(it["exit_code"], it["result"]) for it in daemon.results] == [(2, ""), (0, "fine")]


async def test_each_answer_is_held_against_the_schema() -> None:
    schema = OutputSchema('{"type": "integer"}', name="s")
    daemon = Daemon([says("1"), says("one"), says("2")])
    assert await daemon.read("a", "b", schema=schema) == 0
    assert [it["structured_output"] for it in daemon.results] == [1, 2]


async def test_text_output_is_the_answers_alone() -> None:
    daemon = Daemon([says("one"), says("two")])
    assert await daemon.read("a", "b", output_format="text") == 0
    assert daemon.stdout.text == "one\ntwo\n"


async def test_sigterm_while_idle_ends_it_at_once() -> None:
    daemon = Daemon()
    running = asyncio.create_task(daemon.read(stays_open=True))
    await asyncio.sleep(0)
    daemon.interruption.stop(signal.SIGTERM)
    assert await running == 143
    assert daemon.results == []


async def test_sigterm_in_a_turn_cancels_it_and_its_result_says_so() -> None:
    daemon = Daemon([[StepBegin(1), HANG], says("never")])
    running = asyncio.create_task(daemon.read("a", "b", stays_open=True))
    await daemon.engine.hanging.wait()
    daemon.interruption.stop(signal.SIGTERM)
    assert await running == 143
    assert [(it["outcome"], it["exit_code"]) for it in daemon.results] == [("terminated", 143)]
    assert daemon.prompts == ["a"]


async def test_a_session_that_cannot_be_opened_ends_it_with_a_result() -> None:
    async def start() -> None:
        raise ModelNotSet("No model.", hint="Set one.")

    daemon = Daemon()
    assert await daemon.read("a", start=start) == 1
    assert [it["error"]["what"] for it in daemon.results] == ["No model."]
    assert daemon.stderr.text == "No model. Set one.\n"


@dataclass
class Caller:
    """A program at the other end of the socket."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, prompt: str) -> dict[str, Any]:
        self.writer.write(f"{prompt}\n".encode())
        result: dict[str, Any] = json.loads(await self.reader.readline())
        return result

    async def leave(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@asynccontextmanager
async def called(path: Path) -> AsyncIterator[Caller]:
    reader, writer = await asyncio.open_unix_connection(path)
    caller = Caller(reader, writer)
    yield caller
    await caller.leave()


async def test_several_callers_of_a_socket_share_the_session_and_each_gets_its_own_answers(
    tmp_path: Path,
) -> None:
    daemon, path = Daemon([says("one"), says("two"), says("three")]), tmp_path / "s"
    with listening(path) as door:
        assert path.stat().st_mode & 0o777 == 0o600
        running = asyncio.create_task(daemon.run(door))
        async with called(path) as first, called(path) as second:
            assert (await first.ask("a"))["result"] == "one"
            assert (await second.ask("b"))["result"] == "two"
            assert (await first.ask("c"))["result"] == "three"
        daemon.interruption.stop(signal.SIGTERM)
        assert await running == 143
    assert not path.exists()


async def test_a_caller_who_has_said_all_still_gets_the_answer(tmp_path: Path) -> None:
    daemon, path = Daemon([says("one")]), tmp_path / "s"
    with listening(path) as door:
        running = asyncio.create_task(daemon.run(door))
        async with called(path) as caller:
            caller.writer.write(b"a")
            caller.writer.write_eof()
            assert json.loads(await caller.reader.read())["result"] == "one"
        daemon.interruption.stop(signal.SIGTERM)
        await running


async def test_a_caller_that_is_connected_hears_the_end(tmp_path: Path) -> None:
    daemon, path = Daemon([[StepBegin(1), HANG]]), tmp_path / "s"
    with listening(path) as door:
        running = asyncio.create_task(daemon.run(door))
        async with called(path) as busy, called(path) as idle:
            asking = asyncio.create_task(busy.ask("a"))
            await daemon.engine.hanging.wait()
            daemon.interruption.stop(signal.SIGTERM)
            assert (await asking)["outcome"] == "terminated"
            await running
            assert await idle.reader.read() == b""


def test_a_socket_that_was_left_behind_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with listening(path):
        assert path.is_socket()


def test_a_path_that_is_in_use_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with listening(path), pytest.raises(UsageError, match="listens at"), listening(path):
        pass
    path.write_text("mine")
    with pytest.raises(UsageError, match="is no socket"), listening(path):
        pass
    assert path.read_text() == "mine"
    with pytest.raises(UsageError, match="can't be listened at"), listening(tmp_path / ("x" * 200)):
        pass
