"""Connections to `odd_server.py` for tests."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kimi_tui.mcp.client_handler import ElicitationRequest, ElicitationResult, SamplingRequest, SamplingResult
from kimi_tui.mcp.server import McpServer, ServerContext
from kimi_tui.mcp.server_config import ServerConfig, StdioServer, Timeouts
from kimi_tui.mcp.servers import McpServers
from kimi_tui.tools.tool import CallContext
from tests.timeouts import TEST_TIMEOUT_S

SCRIPT = Path(__file__).with_name("odd_server.py")


def odd_server(
    behavior: str = "plain", *arguments: object, name: str = "odd", **timeouts: float
) -> StdioServer:
    """Return the config of a server with this behavior."""
    return StdioServer(
        name=name,
        command=sys.executable,
        args=("-S", str(SCRIPT), behavior, *map(str, arguments)),
        timeouts=Timeouts(**timeouts),
    )


def config_entry(behavior: str = "plain", *arguments: object) -> dict[str, Any]:
    """Return an entry of an MCP config for a server with this behavior."""
    return {"command": sys.executable, "args": ["-S", str(SCRIPT), behavior, *map(str, arguments)]}


class FakeRequestHandler:
    """Responds to servers' requests and records them."""

    def __init__(self) -> None:
        self.elicitation_result = ElicitationResult("decline")
        self.requests: list[ElicitationRequest | SamplingRequest] = []
        self.release: asyncio.Event | None = None
        """If set, responses wait for it."""

    async def elicit(self, server: str, call: CallContext, request: ElicitationRequest) -> ElicitationResult:
        self.requests.append(request)
        if self.release is not None:
            await self.release.wait()
        return self.elicitation_result

    async def sample(self, server: str, call: CallContext, request: SamplingRequest) -> SamplingResult:
        self.requests.append(request)
        return SamplingResult("4", "a-model")


class ProgressList(list[tuple[float | None, float | None, str]]):
    """The progress reports of a call."""

    def report(self, progress: float | None, total: float | None, message: str) -> None:
        self.append((progress, total, message))


class ChangeWaiter:
    """Called on every change; waits for a condition."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def handle_server_change(self) -> None:
        self._changed.set()

    async def wait_until(self, condition) -> None:  # type: ignore[no-untyped-def]
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not condition():
                self._changed.clear()
                await self._changed.wait()


@asynccontextmanager
async def connect_servers(
    *configs: ServerConfig,
    home: Path,
    request_handler: FakeRequestHandler | None = None,
    retry_delays_s: tuple[float, ...] = (),
) -> AsyncIterator[tuple[McpServers, ChangeWaiter]]:
    """Connect the servers, and wait until each has connected or failed.

    `retry_delays_s` are the delays between attempts.
    """
    changes = ChangeWaiter()
    context = ServerContext(
        work_dir=home,
        data_dir=home,
        request_handler=request_handler or FakeRequestHandler(),
        roots=(home,),
        retry_delays_s=retry_delays_s,
    )
    servers = McpServers(configs, context, changes)
    task = asyncio.ensure_future(servers.run())
    try:
        assert await servers.wait_until_settled(timeout_s=TEST_TIMEOUT_S)
        yield servers, changes
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def connect_server(config: ServerConfig, home: Path, **options: Any) -> AsyncIterator[McpServer]:
    async with connect_servers(config, home=home, **options) as (servers, _):
        yield servers.all[0]
