"""Daemon: one session, and a result for each input line."""

import asyncio
import json
import signal
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import ModelNotSet, UsageError
from kimi_tui.base.interrupt import ProcessInterrupt
from kimi_tui.base.output_schema import OutputSchema
from kimi_tui.base.output_stream import OutputStream
from kimi_tui.headless.daemon import run_daemon
from kimi_tui.headless.daemon_client import ClientListener, StdioListener
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.unix_socket import listen
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Command, Prompt, RunSlash, Shutdown
from kimi_tui.wire.events import CostUpdate, Notification, StepBegin, TurnBegin, TurnEnd, TurnFailure
from kimi_tui.wire.requests import ApprovalRequest

from .conftest import HANG, SESSION, FakeEngine, Sink


class FakeLineReader:
    """Returns the given lines and, unless it stays open, the end of the input."""

    def __init__(self, *lines: str, stays_open: bool = False) -> None:
        self._lines = [f"{line}\n".encode() for line in lines]
        self._stays_open = stays_open

    def readline(self, longest: int | None = None) -> bytes:
        if self._lines:
            return self._lines.pop(0)
        if self._stays_open:
            threading.Event().wait()
        return b""


def text_turn(text: str) -> list[Any]:
    return [StepBegin(1), TextPart(text)]


@dataclass
class DaemonRun:
    """A daemon with an engine that plays scripted turns."""

    turns: Sequence[Sequence[Any]] = ()
    wire: Wire = field(default_factory=Wire)
    stdout: Sink = field(default_factory=Sink)
    stderr: Sink = field(default_factory=Sink)
    interruption: ProcessInterrupt = field(default_factory=ProcessInterrupt)
    engine: FakeEngine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = FakeEngine(self.wire, self.turns)

    async def run(self, listener: ClientListener, *, start: Any = None, **options: Any) -> int:
        options.setdefault("output_format", "json")
        return await run_daemon(
            self.wire,
            PrintOptions(version="1.2", **options),
            start=start or self.engine.serve,
            listener=listener,
            stderr=self.stderr,
            interruption=self.interruption,
        )

    async def read(self, *lines: str, stays_open: bool = False, **options: Any) -> int:
        listener = StdioListener(FakeLineReader(*lines, stays_open=stays_open), OutputStream(self.stdout))
        return await self.run(listener, **options)

    @property
    def prompts(self) -> list[Any]:
        return [command.user_input for command in self.engine.commands if hasattr(command, "user_input")]

    @property
    def results(self) -> list[dict[str, Any]]:
        return [line for line in self.stdout.objects if line.get("type") == "result"]


async def test_each_line_is_a_prompt_with_its_own_result() -> None:
    daemon = DaemonRun([text_turn("one"), [CostUpdate(0.5), *text_turn("two")]])
    assert await daemon.read("first", "", "  second ") == 0
    assert daemon.prompts == ["first", "second"]
    assert [(it["result"], it["turns"], it["steps"]) for it in daemon.results] == [
        ("one", 1, 1),
        ("two", 1, 1),
    ]
    assert {it["session_id"] for it in daemon.results} == {"s-1"}
    assert daemon.results[1]["cost_usd"] == 0.5


async def test_a_turn_of_another_client_is_not_the_result_of_a_prompt() -> None:
    daemon = DaemonRun()

    commands: list[Command] = []

    async def serve() -> None:
        daemon.wire.send(replace(SESSION, resident=True))
        async for command in daemon.wire.commands():
            commands.append(command)
            match command:
                case Prompt():
                    for begin, text in (
                        (TurnBegin("theirs"), "their response"),
                        (TurnBegin("mine", command.prompt_id), "my response"),
                    ):
                        for message in (begin, *text_turn(text), TurnEnd()):
                            daemon.wire.send(message)
                case Shutdown():
                    return

    assert await daemon.read("mine", "/clear", start=serve) == 0
    assert [it["result"] for it in daemon.results] == ["my response", ""]
    assert RunSlash("clear") in commands, "a command without a turn has no id of one"


async def test_a_failed_turn_does_not_affect_the_next() -> None:
    failed = TurnEnd("failed", 1, TurnFailure("The server is away.", "Wait.", retryable=True))
    denied = ApprovalRequest("r", "c", "Bash", "run command", "rm -rf x")
    daemon = DaemonRun([[failed], [StepBegin(1), denied], text_turn("fine")])
    assert await daemon.read("a", "b", "c") == 0
    assert [it["exit_code"] for it in daemon.results] == [75, 4, 0]
    assert [len(it["denials"]) for it in daemon.results] == [0, 1, 0]
    assert "The server is away. Wait." in daemon.stderr.text


async def test_an_invalid_line_has_an_error_as_its_result() -> None:
    daemon = DaemonRun([text_turn("fine")])
    lines = ["nonsense", '{"role":"user","content":[{"type":"text","text":"hello"}]}']
    assert await daemon.read(*lines, input_format="stream-json", output_format="stream-json") == 0
    assert daemon.stdout.objects[0]["type"] == "init"
    bad, good = daemon.results
    assert (bad["exit_code"], bad["error"]["what"]) == (2, "Line 1 of the input isn't valid JSON.")
    assert (good["exit_code"], daemon.prompts) == (0, [(TextPart("hello"),)])
    assert {"role": "assistant", "content": "fine"} in daemon.stdout.objects


async def test_a_response_is_not_repeated_in_the_next_result() -> None:
    failed = TurnEnd("failed", 0, TurnFailure("No."))
    daemon = DaemonRun([text_turn("one"), [failed]])
    await daemon.read("a", "b")
    assert [it["result"] for it in daemon.results] == ["one", ""]


async def test_a_command_has_its_own_result() -> None:
    refused = Notification("n", "", "", "", "", "Nothing to clear.", "Say something.", severity="error")
    daemon = DaemonRun([[refused], text_turn("fine")])
    assert await daemon.read("/clear", "hello") == 0
    assert [it["exit_code"] for it in daemon.results] == [1, 0]
    assert daemon.results[0]["error"]["what"] == "Nothing to clear."


async def test_an_app_command_is_rejected_and_the_next_line_is_processed() -> None:
    daemon = DaemonRun([text_turn("fine")])
    assert await daemon.read("/theme dark", "hello") == 0
    assert [(it["exit_code"], it["result"]) for it in daemon.results] == [(2, ""), (0, "fine")]


async def test_each_response_is_validated_against_the_schema() -> None:
    schema = OutputSchema('{"type": "integer"}', name="s")
    daemon = DaemonRun([text_turn("1"), text_turn("one"), text_turn("2")])
    assert await daemon.read("a", "b", schema=schema) == 0
    assert [it["structured_output"] for it in daemon.results] == [1, 2]


async def test_text_output_contains_only_the_responses() -> None:
    daemon = DaemonRun([text_turn("one"), text_turn("two")])
    assert await daemon.read("a", "b", output_format="text") == 0
    assert daemon.stdout.text == "one\ntwo\n"


async def test_sigterm_stops_an_idle_daemon_immediately() -> None:
    daemon = DaemonRun()
    running = asyncio.create_task(daemon.read(stays_open=True))
    await asyncio.sleep(0)
    daemon.interruption.request_stop(signal.SIGTERM)
    assert await running == 143
    assert daemon.results == []


async def test_sigterm_cancels_the_running_turn_and_writes_its_result() -> None:
    daemon = DaemonRun([[StepBegin(1), HANG], text_turn("never")])
    running = asyncio.create_task(daemon.read("a", "b", stays_open=True))
    await daemon.engine.hanging.wait()
    daemon.interruption.request_stop(signal.SIGTERM)
    assert await running == 143
    assert [(it["outcome"], it["exit_code"]) for it in daemon.results] == [("terminated", 143)]
    assert daemon.prompts == ["a"]


async def test_an_error_while_opening_the_session_ends_the_daemon_with_a_result() -> None:
    async def start() -> None:
        raise ModelNotSet("No model.", hint="Set one.")

    daemon = DaemonRun()
    assert await daemon.read("a", start=start) == 1
    assert [it["error"]["what"] for it in daemon.results] == ["No model."]
    assert daemon.stderr.text == "No model. Set one.\n"


@dataclass
class SocketClient:
    """A client that is connected to the socket."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, prompt: str) -> dict[str, Any]:
        self.writer.write(f"{prompt}\n".encode())
        result: dict[str, Any] = json.loads(await self.reader.readline())
        return result

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@asynccontextmanager
async def connect(path: Path) -> AsyncIterator[SocketClient]:
    reader, writer = await asyncio.open_unix_connection(path)
    client = SocketClient(reader, writer)
    yield client
    await client.close()


async def test_several_clients_share_the_session_and_each_gets_its_own_results(
    tmp_path: Path,
) -> None:
    daemon, path = DaemonRun([text_turn("one"), text_turn("two"), text_turn("three")]), tmp_path / "s"
    with listen(path) as listener:
        assert path.stat().st_mode & 0o777 == 0o600
        running = asyncio.create_task(daemon.run(listener))
        async with connect(path) as first, connect(path) as second:
            assert (await first.ask("a"))["result"] == "one"
            assert (await second.ask("b"))["result"] == "two"
            assert (await first.ask("c"))["result"] == "three"
        daemon.interruption.request_stop(signal.SIGTERM)
        assert await running == 143
    assert not path.exists()


async def test_a_client_that_closed_its_input_still_gets_the_result(tmp_path: Path) -> None:
    daemon, path = DaemonRun([text_turn("one")]), tmp_path / "s"
    with listen(path) as listener:
        running = asyncio.create_task(daemon.run(listener))
        async with connect(path) as client:
            client.writer.write(b"a")
            client.writer.write_eof()
            assert json.loads(await client.reader.read())["result"] == "one"
        daemon.interruption.request_stop(signal.SIGTERM)
        await running


async def test_connected_clients_get_the_result_and_are_disconnected_on_exit(tmp_path: Path) -> None:
    daemon, path = DaemonRun([[StepBegin(1), HANG]]), tmp_path / "s"
    with listen(path) as listener:
        running = asyncio.create_task(daemon.run(listener))
        async with connect(path) as busy, connect(path) as idle:
            response_task = asyncio.create_task(busy.ask("a"))
            await daemon.engine.hanging.wait()
            daemon.interruption.request_stop(signal.SIGTERM)
            assert (await response_task)["outcome"] == "terminated"
            await running
            assert await idle.reader.read() == b""


def test_a_stale_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with listen(path):
        assert path.is_socket()


def test_a_path_in_use_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with listen(path), pytest.raises(UsageError, match="already in use"), listen(path):
        pass
    path.write_text("mine")
    with pytest.raises(UsageError, match="isn't a socket"), listen(path):
        pass
    assert path.read_text() == "mine"
    with pytest.raises(UsageError, match="Can't listen on"), listen(tmp_path / ("x" * 200)):
        pass
