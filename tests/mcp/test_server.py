"""Servers that start, exit and misbehave: each affects only its own calls."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from kimi_tui.mcp.client_handler import ElicitationResult
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.result import McpResult, McpText, text_content
from kimi_tui.mcp.server import McpServer
from tests.loop_clock import LoopClock
from tests.mcp.odd_servers import (
    FakeRequestHandler,
    ProgressList,
    connect_server,
    connect_servers,
    odd_server,
)
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.call_context import build_context


async def call(server: McpServer, tool: str, /, **arguments: object) -> McpResult:
    async with asyncio.timeout(TEST_TIMEOUT_S):
        return await server.call_tool(tool, arguments, build_context(), ProgressList())


async def call_for_text(server: McpServer, tool: str, /, **arguments: object) -> str:
    return text_content((await call(server, tool, **arguments)).content)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_servers_features_are_fetched_and_can_be_used(tmp_path):
    async with connect_server(odd_server(), tmp_path) as server:
        assert server.state == "connected"
        assert server.features.title == "odd 1"
        assert server.features.instructions == "Use echo with care."
        assert {tool.name for tool in server.features.tools} >= {"echo", "look"}
        assert [tool.name for tool in server.features.tools if tool.is_read_only] == ["look"]
        assert [prompt.name for prompt in server.features.prompts] == ["review"]
        assert [resource.uri for resource in server.features.resources] == ["memo://one"]
        assert await call_for_text(server, "echo", text="hö \ud800 ") == "You said: hö ? "
        assert text_content((await server.get_prompt("review", {"file": "a.py"})).content) == "Review a.py"
        assert text_content((await server.read_resource("memo://one")).content) == "What memo://one says."
        assert (await call(server, "fail")).is_error
        assert (await call(server, "structured")).content == (McpText('{\n "celsius": 21\n}'),)
        with pytest.raises(McpServerError, match="no tool nope"):
            await call(server, "nope")


async def test_a_server_receives_the_roots_and_a_minimal_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("KIMI_API_KEY", "secret")
    async with connect_server(odd_server(), tmp_path) as server:
        assert json.loads(await call_for_text(server, "roots"))["roots"] == [{"uri": tmp_path.as_uri()}]
        environment = json.loads(await call_for_text(server, "environment"))
        assert "PATH" in environment
        assert "KIMI_API_KEY" not in environment


@pytest.mark.parametrize("behavior", ["nameless", "listless", "no_utf8", "floods"])
async def test_a_server_with_minor_deviations_works(tmp_path, behavior):
    async with connect_server(odd_server(behavior), tmp_path) as server:
        assert await call_for_text(server, "echo", text="hi") == "You said: hi"


@pytest.mark.parametrize(
    ("behavior", "expected"),
    [
        ("dies_at_start", "The server exited with status 2. Last output: no license"),
        ("dies_after_closing_stdin", "The server exited with status 2. Last output: no license"),
        ("future", "Unsupported protocol version"),
        ("no_tools", "The server sent an invalid response"),
    ],
)
async def test_the_error_of_an_unusable_server_gives_the_reason(tmp_path, behavior, expected):
    async with connect_server(odd_server(behavior), tmp_path) as server:
        assert server.state == "failed"
        assert expected in str(server.error)
        with pytest.raises(McpServerError, match="is not connected"):
            await call(server, "echo")


async def test_a_server_that_never_responds_does_not_delay_another(tmp_path):
    hanging, plain = odd_server("hangs_at_start", connect_s=1.0, name="hanging"), odd_server()
    async with connect_servers(hanging, plain, home=tmp_path) as (servers, _):
        assert [server.state for server in servers.all] == ["failed", "connected"]
        assert "didn't respond within 1 s" in str(servers.all[0].error)


async def test_a_missing_program_is_reported_without_a_retry(tmp_path):
    from kimi_tui.mcp.server_config import StdioServer

    async with connect_server(
        StdioServer(name="x", command="no-such-program"), tmp_path, retry_delays_s=(0.0,)
    ) as server:
        assert (
            str(server.error) == "Can't find the program no-such-program. Install it, or use its full path."
        )


async def test_a_server_that_exits_during_a_call_is_reconnected(tmp_path):
    async with connect_servers(odd_server(), home=tmp_path, retry_delays_s=(0.0, 0.0)) as (servers, changes):
        server = servers.all[0]
        with pytest.raises(McpServerError, match=r"status 3\. Last output: I can't go on"):
            await call(server, "die")
        await changes.wait_until(lambda: server.state == "connected")
        assert await call_for_text(server, "echo", text="again") == "You said: again"


async def test_a_failed_connection_is_retried(tmp_path):
    count = tmp_path / "count"
    async with connect_servers(
        odd_server("dies_first_times", count, 3), home=tmp_path, retry_delays_s=(0.0, 0.0, 0.0)
    ) as (servers, changes):
        await changes.wait_until(lambda: servers.all[0].state == "connected")
        assert count.read_text() == "xxx"


async def test_a_failed_server_is_reconnected_on_request(tmp_path):
    count = tmp_path / "count"
    async with connect_servers(odd_server("dies_first_times", count, 2), home=tmp_path) as (servers, changes):
        assert servers.all[0].state == "failed"
        servers.all[0].reconnect()
        await changes.wait_until(lambda: servers.all[0].state == "connected")


async def test_a_silent_call_times_out_and_the_server_is_notified(tmp_path):
    log = tmp_path / "log"
    async with connect_server(odd_server("log", log, silence_s=50), tmp_path) as server:
        clock = LoopClock()
        pending = asyncio.ensure_future(call(server, "hang"))
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while '"hang"' not in log.read_text():
                await asyncio.sleep(0.005)
        with pytest.raises(McpServerError, match=r"no progress for 50 s"):
            await clock.advance_until(pending, 50)
        assert await call_for_text(server, "echo", text="still here") == "You said: still here"
    assert "notifications/cancelled" in log.read_text()


class SlowProgress(ProgressList):
    """Progress reports that are 40 seconds apart."""

    def __init__(self, clock: LoopClock) -> None:
        self._clock = clock

    def report(self, progress: float | None, total: float | None, message: str) -> None:
        super().report(progress, total, message)
        self._clock.advance(40)


async def test_progress_is_reported_and_resets_the_timeout(tmp_path):
    async with connect_server(odd_server(silence_s=50), tmp_path) as server:
        progress = SlowProgress(LoopClock())
        await server.call_tool("progress", {}, build_context(), progress)
    assert progress == [(1, 3, "step 0"), (2, 3, "step 1"), (3, 3, "step 2")]


async def test_a_question_to_the_user_suspends_the_timeout(tmp_path):
    request_handler = FakeRequestHandler()
    request_handler.elicitation_result = ElicitationResult("accept", {"name": "Ada"})
    request_handler.release = asyncio.Event()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    async with connect_server(odd_server(silence_s=50), tmp_path, request_handler=request_handler) as server:
        clock = LoopClock()
        pending = asyncio.ensure_future(call_for_text(server, "elicit", schema=schema))
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not request_handler.requests:
                await asyncio.sleep(0.005)
        clock.advance(60)
        for _ in range(20):
            await asyncio.sleep(0)
        assert not pending.done()
        request_handler.release.set()
        assert json.loads(await pending) == {"action": "accept", "content": {"name": "Ada"}}


async def test_a_question_is_canceled_with_its_call(tmp_path):
    request_handler = FakeRequestHandler()
    request_handler.release = asyncio.Event()
    async with connect_server(odd_server(), tmp_path, request_handler=request_handler) as server:
        pending = asyncio.ensure_future(
            call_for_text(server, "elicit", schema={"type": "object", "properties": {}})
        )
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not request_handler.requests:
                await asyncio.sleep(0)
        pending.cancel()
        await asyncio.wait([pending], timeout=TEST_TIMEOUT_S)
        assert pending.cancelled()


async def test_a_server_can_request_sampling(tmp_path):
    request_handler = FakeRequestHandler()
    async with connect_server(odd_server(), tmp_path, request_handler=request_handler) as server:
        result = json.loads(await call_for_text(server, "sample"))
    assert result["content"]["text"] == "4"
    assert result["model"] == "a-model"


async def test_tools_added_later_are_detected(tmp_path):
    async with connect_servers(odd_server(), home=tmp_path) as (servers, changes):
        server = servers.all[0]
        await call(server, "grow")
        await changes.wait_until(lambda: any(tool.name == "grown" for tool in server.features.tools))


async def test_fifty_megabytes_are_received_and_a_larger_message_fails_the_call(tmp_path):
    async with connect_servers(odd_server(), home=tmp_path, retry_delays_s=(0.0,)) as (servers, changes):
        server = servers.all[0]
        assert len(await call_for_text(server, "big", megabytes=50)) == 50 * 1024 * 1024
        with pytest.raises(McpServerError, match="larger than 64 MB"):
            await call(server, "big", megabytes=70)
        await changes.wait_until(lambda: server.state == "connected")


async def test_logging_is_rate_limited_and_free_of_escape_sequences(tmp_path, caplog):
    caplog.set_level("INFO", "kimi_tui.mcp")
    async with connect_server(odd_server("floods"), tmp_path):
        pass
    lines = [record.getMessage() for record in caplog.records if "flood" in record.getMessage()]
    assert 100 < len(lines) < 1000
    assert not any("\x1b" in line for line in lines)


async def test_a_server_that_ignores_signals_is_killed(tmp_path):
    pid_file = tmp_path / "pid"
    async with connect_server(odd_server("ignores_signals", pid_file), tmp_path) as server:
        assert server.state == "connected"
        pid = int(pid_file.read_text())
        assert is_alive(pid)
    assert not is_alive(pid)


async def test_the_reaper_terminates_watched_processes_when_the_program_exits(tmp_path):
    from kimi_tui.mcp.process_reaper import ProcessReaper

    sleeper = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    reaper = ProcessReaper()
    await reaper.watch(sleeper.pid)
    await reaper.close()  # closes its input, as the program's exit does
    async with asyncio.timeout(TEST_TIMEOUT_S):
        assert await sleeper.wait() == -signal.SIGTERM


async def test_the_reaper_does_not_touch_unwatched_processes(tmp_path):
    from kimi_tui.mcp.process_reaper import ProcessReaper

    sleeper = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    reaper = ProcessReaper()
    await reaper.watch(sleeper.pid)
    reaper.unwatch(sleeper.pid)
    await reaper.close()
    assert sleeper.returncode is None
    sleeper.kill()
    await sleeper.wait()


def test_the_server_script_exists():
    assert Path(__file__).with_name("odd_server.py").is_file()
