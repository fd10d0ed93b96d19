"""Servers that come, go and misbehave: each costs its own calls only."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tools.mcp.answer import McpAnswer, Words, words_of
from kimi_tui.tools.mcp.listener import Elicited
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server import McpServer
from tests.clock import Clock
from tests.mcp.odd import Askings, connected, odd_server, one_connected
from tests.patience import PATIENCE_S
from tests.tools.calls import running_call


async def ask(server: McpServer, tool: str, /, **arguments: object) -> McpAnswer:
    async with asyncio.timeout(PATIENCE_S):
        return await server.call(tool, arguments, running_call(), on_progress=lambda *_: None)


async def said(server: McpServer, tool: str, /, **arguments: object) -> str:
    return words_of((await ask(server, tool, **arguments)).pieces)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_server_tells_what_it_offers_and_its_tools_can_be_called(tmp_path):
    async with one_connected(odd_server(), tmp_path) as server:
        assert server.state == "connected"
        assert server.offer.title == "odd 1"
        assert server.offer.instructions == "Use echo with care."
        assert {tool.name for tool in server.offer.tools} >= {"echo", "look"}
        assert [tool.name for tool in server.offer.tools if tool.reads_only] == ["look"]
        assert [prompt.name for prompt in server.offer.prompts] == ["review"]
        assert [resource.uri for resource in server.offer.resources] == ["memo://one"]
        assert await said(server, "echo", text="hö \ud800 ") == "You said: hö ? "
        assert words_of((await server.prompt("review", {"file": "a.py"})).pieces) == "Review a.py"
        assert words_of((await server.resource("memo://one")).pieces) == "What memo://one says."
        assert (await ask(server, "fail")).is_error
        assert (await ask(server, "structured")).pieces == (Words('{\n "celsius": 21\n}'),)
        with pytest.raises(McpProblem, match="no tool nope"):
            await ask(server, "nope")


async def test_a_server_knows_the_folders_and_little_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("KIMI_API_KEY", "secret")
    async with one_connected(odd_server(), tmp_path) as server:
        assert json.loads(await said(server, "roots"))["roots"] == [{"uri": tmp_path.as_uri()}]
        environment = json.loads(await said(server, "environment"))
        assert "PATH" in environment
        assert "KIMI_API_KEY" not in environment


@pytest.mark.parametrize("behaviour", ["nameless", "listless", "no_utf8", "floods"])
async def test_a_server_that_is_a_little_odd_works(tmp_path, behaviour):
    async with one_connected(odd_server(behaviour), tmp_path) as server:
        assert await said(server, "echo", text="hi") == "You said: hi"


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        ("dies_at_start", "It ended with status 2. Its last words: no licence"),
        ("dies_after_it_stopped_listening", "It ended with status 2. Its last words: no licence"),
        ("future", "Unsupported protocol version"),
        ("no_tools", "what the protocol doesn't allow"),
    ],
)
async def test_a_server_that_can_not_be_used_says_why(tmp_path, behaviour, expected):
    async with one_connected(odd_server(behaviour), tmp_path) as server:
        assert server.state == "failed"
        assert expected in str(server.problem)
        with pytest.raises(McpProblem, match="is not connected"):
            await ask(server, "echo")


async def test_a_server_that_never_answers_does_not_hold_up_another(tmp_path):
    hanging, plain = odd_server("hangs_at_start", connect_s=1.0, name="hanging"), odd_server()
    async with connected(hanging, plain, home=tmp_path) as (servers, _):
        assert [server.state for server in servers.all] == ["failed", "connected"]
        assert "did not answer within 1 s" in str(servers.all[0].problem)


async def test_a_program_that_is_not_there_is_told_at_once_and_not_tried_again(tmp_path):
    from kimi_tui.tools.mcp.server_config import StdioServer

    async with one_connected(
        StdioServer(name="x", command="no-such-program"), tmp_path, pauses_s=(0.0,)
    ) as server:
        assert (
            str(server.problem)
            == "The program no-such-program is not there. Install it, or write its whole path."
        )


async def test_a_call_that_its_server_dies_in_fails_and_the_next_one_finds_it_connected_again(tmp_path):
    async with connected(odd_server(), home=tmp_path, pauses_s=(0.0, 0.0)) as (servers, changes):
        server = servers.all[0]
        with pytest.raises(McpProblem, match=r"status 3\. Its last words: I can't go on"):
            await ask(server, "die")
        await changes.until(lambda: server.state == "connected")
        assert await said(server, "echo", text="again") == "You said: again"


async def test_a_server_that_fails_at_first_is_tried_again(tmp_path):
    count = tmp_path / "count"
    async with connected(
        odd_server("dies_first_times", count, 3), home=tmp_path, pauses_s=(0.0, 0.0, 0.0)
    ) as (servers, changes):
        await changes.until(lambda: servers.all[0].state == "connected")
        assert count.read_text() == "xxx"


async def test_a_server_that_was_given_up_is_connected_when_asked_for(tmp_path):
    count = tmp_path / "count"
    async with connected(odd_server("dies_first_times", count, 2), home=tmp_path) as (servers, changes):
        assert servers.all[0].state == "failed"
        servers.all[0].reconnect()
        await changes.until(lambda: servers.all[0].state == "connected")


async def test_a_silent_call_ends_after_its_time_and_the_server_hears_of_it(tmp_path):
    log = tmp_path / "log"
    async with one_connected(odd_server("log", log, silence_s=50), tmp_path) as server:
        clock = Clock()
        asking = asyncio.ensure_future(ask(server, "hang"))
        async with asyncio.timeout(PATIENCE_S):
            while '"hang"' not in log.read_text():
                await asyncio.sleep(0.005)
        with pytest.raises(McpProblem, match=r"no sign of life for 50 s"):
            await clock.forward_until(asking, 50)
        assert await said(server, "echo", text="still here") == "You said: still here"
    assert "notifications/cancelled" in log.read_text()


async def test_progress_is_passed_on_and_counts_as_a_sign_of_life(tmp_path):
    heard: list[tuple[float, float | None, str]] = []
    async with one_connected(odd_server(silence_s=50), tmp_path) as server:
        clock = Clock()

        def on_progress(*far: Any) -> None:
            heard.append(far)
            clock.forward(40)

        await server.call("progress", {}, running_call(), on_progress=on_progress)
    assert heard == [(1, 3, "step 0"), (2, 3, "step 1"), (3, 3, "step 2")]


async def test_a_question_to_the_user_is_not_silence(tmp_path):
    askings = Askings()
    askings.elicited = Elicited("accept", {"name": "Ada"})
    askings.held = asyncio.Event()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    async with one_connected(odd_server(silence_s=50), tmp_path, askings=askings) as server:
        clock = Clock()
        asking = asyncio.ensure_future(said(server, "elicit", schema=schema))
        async with asyncio.timeout(PATIENCE_S):
            while not askings.wanted:
                await asyncio.sleep(0.005)
        clock.forward(60)
        for _ in range(20):
            await asyncio.sleep(0)
        assert not asking.done()
        askings.held.set()
        assert json.loads(await asking) == {"action": "accept", "content": {"name": "Ada"}}


async def test_a_question_ends_with_the_call_that_it_was_asked_for(tmp_path):
    askings = Askings()
    askings.held = asyncio.Event()
    async with one_connected(odd_server(), tmp_path, askings=askings) as server:
        asking = asyncio.ensure_future(said(server, "elicit", schema={"type": "object", "properties": {}}))
        async with asyncio.timeout(PATIENCE_S):
            while not askings.wanted:
                await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking], timeout=PATIENCE_S)
        assert asking.cancelled()


async def test_a_server_may_ask_the_model(tmp_path):
    askings = Askings()
    async with one_connected(odd_server(), tmp_path, askings=askings) as server:
        answer = json.loads(await said(server, "sample"))
    assert answer["content"]["text"] == "4"
    assert answer["model"] == "a-model"


async def test_tools_that_come_later_are_noticed(tmp_path):
    async with connected(odd_server(), home=tmp_path) as (servers, changes):
        server = servers.all[0]
        await ask(server, "grow")
        await changes.until(lambda: any(tool.name == "grown" for tool in server.offer.tools))


async def test_fifty_megabytes_arrive_whole_and_what_is_larger_costs_the_call(tmp_path):
    async with connected(odd_server(), home=tmp_path, pauses_s=(0.0,)) as (servers, changes):
        server = servers.all[0]
        assert len(await said(server, "big", megabytes=50)) == 50 * 1024 * 1024
        with pytest.raises(McpProblem, match="larger than 64 MB"):
            await ask(server, "big", megabytes=70)
        await changes.until(lambda: server.state == "connected")


async def test_a_flood_is_not_all_logged_and_can_not_drive_a_terminal(tmp_path, caplog):
    caplog.set_level("INFO", "kimi_tui.tools.mcp")
    async with one_connected(odd_server("floods"), tmp_path):
        pass
    lines = [record.getMessage() for record in caplog.records if "flood" in record.getMessage()]
    assert 100 < len(lines) < 1000
    assert not any("\x1b" in line for line in lines)


async def test_a_server_that_will_not_go_is_ended(tmp_path):
    pid_file = tmp_path / "pid"
    async with one_connected(odd_server("deaf", pid_file), tmp_path) as server:
        assert server.state == "connected"
        pid = int(pid_file.read_text())
        assert is_alive(pid)
    assert not is_alive(pid)


async def test_a_server_is_ended_when_the_program_is_killed(tmp_path):
    """The leash: what a killed program can't do itself."""
    from kimi_tui.tools.mcp.leash import Leash

    sleeper = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    leash = Leash()
    await leash.hold(sleeper.pid)
    await leash.close()  # its input ends, as it does with the program
    async with asyncio.timeout(PATIENCE_S):
        assert await sleeper.wait() == -signal.SIGTERM


async def test_what_was_let_go_is_left_alone(tmp_path):
    from kimi_tui.tools.mcp.leash import Leash

    sleeper = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    leash = Leash()
    await leash.hold(sleeper.pid)
    leash.release(sleeper.pid)
    await leash.close()
    assert sleeper.returncode is None
    sleeper.kill()
    await sleeper.wait()


def test_the_script_is_there():
    assert Path(__file__).with_name("odd_server.py").is_file()
