"""Calls of tools that only run as tasks."""

import asyncio
import json

import pytest

from kimi_tui.mcp.client_handler import ElicitationResult
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.result import McpResult, text_content
from kimi_tui.mcp.server import McpServer
from tests.mcp.odd_servers import FakeRequestHandler, ProgressList, connect_server, odd_server
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.call_context import build_context


async def call_slow(server: McpServer, progress: ProgressList, /, **arguments: object) -> McpResult:
    async with asyncio.timeout(TEST_TIMEOUT_S):
        return await server.call_tool(
            "slow", arguments, build_context(), ProgressList() if progress is None else progress
        )


async def test_a_task_is_polled_until_it_completes_and_its_status_is_reported(tmp_path):
    async with connect_server(odd_server("task"), tmp_path) as server:
        assert [tool.unusable_reason for tool in server.features.tools] == ["", ""]
        progress = ProgressList()
        result = await call_slow(server, progress)
    assert text_content(result.content) == "it is done"
    assert [status for _, _, status in progress] == ["step 0", "step 1", "step 2"]


async def test_polling_resets_the_silence_timeout(tmp_path):
    async with connect_server(odd_server("task", silence_s=5), tmp_path) as server:
        assert not (await call_slow(server, ProgressList())).is_error


async def test_a_task_can_request_input(tmp_path):
    request_handler = FakeRequestHandler()
    request_handler.elicitation_result = ElicitationResult("accept", {"name": "Ada"})
    async with connect_server(odd_server("task"), tmp_path, request_handler=request_handler) as server:
        result = await call_slow(server, ProgressList(), ask=True)
    assert json.loads(text_content(result.content))["content"] == {"name": "Ada"}


async def test_a_failed_or_canceled_task_is_reported(tmp_path):
    async with connect_server(odd_server("task"), tmp_path) as server:
        assert (await call_slow(server, ProgressList(), end="failed")).is_error
        with pytest.raises(McpServerError, match="canceled the task"):
            await call_slow(server, ProgressList(), end="cancelled")


async def test_canceling_a_call_cancels_the_task_on_the_server(tmp_path):
    marker = tmp_path / "marker"
    async with connect_server(odd_server("task"), tmp_path) as server:
        progress = ProgressList()
        call = asyncio.ensure_future(
            server.call_tool("slow", {"hang": str(marker)}, build_context(), progress)
        )
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not progress:
                await asyncio.sleep(0.005)
        call.cancel()
        await asyncio.wait([call])
        assert marker.read_text() == "cancelled"


async def test_a_task_only_tool_is_unusable_if_the_server_does_not_support_tasks(tmp_path):
    async with connect_server(odd_server("task", "taskless"), tmp_path) as server:
        reasons = [tool.unusable_reason for tool in server.features.tools]
        assert ["doesn't support" in reason for reason in reasons] == [False, True]
