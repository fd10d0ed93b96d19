"""Tools that only run as tasks."""

import asyncio
import json

import pytest

from kimi_tui.tools.mcp.answer import McpAnswer, words_of
from kimi_tui.tools.mcp.listener import Elicited
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server import McpServer
from tests.mcp.odd import Askings, odd_server, one_connected
from tests.patience import PATIENCE_S
from tests.tools.calls import running_call


async def slow(server: McpServer, told: list[str] | None = None, /, **arguments: object) -> McpAnswer:
    async with asyncio.timeout(PATIENCE_S):
        return await server.call(
            "slow",
            arguments,
            running_call(),
            on_progress=lambda far, of, said: told.append(said) if told is not None else None,
        )


async def test_it_is_looked_at_until_it_is_done_and_what_it_says_is_shown(tmp_path):
    async with one_connected(odd_server("task"), tmp_path) as server:
        assert [tool.problem for tool in server.offer.tools] == ["", ""]
        told: list[str] = []
        answer = await slow(server, told)
    assert words_of(answer.pieces) == "it is done"
    assert told == ["step 0", "step 1", "step 2"]


async def test_a_look_is_a_sign_of_life(tmp_path):
    async with one_connected(odd_server("task", silence_s=5), tmp_path) as server:
        assert not (await slow(server)).is_error


async def test_one_that_wants_to_know_something_asks(tmp_path):
    askings = Askings()
    askings.elicited = Elicited("accept", {"name": "Ada"})
    async with one_connected(odd_server("task"), tmp_path, askings=askings) as server:
        answer = await slow(server, ask=True)
    assert json.loads(words_of(answer.pieces))["content"] == {"name": "Ada"}


async def test_one_that_fails_or_is_given_up_by_the_server_says_so(tmp_path):
    async with one_connected(odd_server("task"), tmp_path) as server:
        assert (await slow(server, end="failed")).is_error
        with pytest.raises(McpProblem, match="cancelled the task"):
            await slow(server, end="cancelled")


async def test_a_call_that_is_cancelled_has_the_server_give_it_up(tmp_path):
    trace = tmp_path / "trace"
    async with one_connected(odd_server("task"), tmp_path) as server:
        begun = asyncio.Event()
        call = asyncio.ensure_future(
            server.call("slow", {"hang": str(trace)}, running_call(), on_progress=lambda *_: begun.set())
        )
        async with asyncio.timeout(PATIENCE_S):
            await begun.wait()
        call.cancel()
        await asyncio.wait([call])
        assert trace.read_text() == "cancelled"


async def test_a_server_that_runs_no_tasks_can_not_run_it(tmp_path):
    async with one_connected(odd_server("task", "taskless"), tmp_path) as server:
        assert ["runs none" in tool.problem for tool in server.offer.tools] == [False, True]
