"""Odd servers in a test: connected, asked, and gone at its end."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kimi_tui.tools.mcp.listener import Elicitation, Elicited, Sampled, Sampling
from kimi_tui.tools.mcp.server import McpServer, Surroundings
from kimi_tui.tools.mcp.server_config import Patience, ServerConfig, StdioServer
from kimi_tui.tools.mcp.servers import McpServers
from kimi_tui.tools.tool import RunningCall
from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).with_name("odd_server.py")


def odd_server(
    behaviour: str = "plain", *arguments: object, name: str = "odd", **patience: float
) -> StdioServer:
    """A server that behaves so."""
    return StdioServer(
        name=name,
        command=sys.executable,
        args=("-S", str(SCRIPT), behaviour, *map(str, arguments)),
        patience=Patience(**patience),
    )


def entry(behaviour: str = "plain", *arguments: object) -> dict[str, Any]:
    """The same as an entry of a config."""
    return {"command": sys.executable, "args": ["-S", str(SCRIPT), behaviour, *map(str, arguments)]}


class Askings:
    """Answers what servers ask, and remembers it."""

    def __init__(self) -> None:
        self.elicited = Elicited("decline")
        self.wanted: list[Elicitation | Sampling] = []
        self.held: asyncio.Event | None = None
        """What an answer waits for."""

    async def elicit(self, server: str, call: RunningCall, wanted: Elicitation) -> Elicited:
        self.wanted.append(wanted)
        if self.held is not None:
            await self.held.wait()
        return self.elicited

    async def sample(self, server: str, call: RunningCall, wanted: Sampling) -> Sampled:
        self.wanted.append(wanted)
        return Sampled("4", "a-model")


class Changes:
    """Waits for states; told of every change."""

    def __init__(self) -> None:
        self._arrived = asyncio.Event()

    def __call__(self) -> None:
        self._arrived.set()

    async def until(self, holds) -> None:  # type: ignore[no-untyped-def]
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                self._arrived.clear()
                await self._arrived.wait()


@asynccontextmanager
async def connected(
    *configs: ServerConfig, home: Path, askings: Askings | None = None, pauses_s: tuple[float, ...] = ()
) -> AsyncIterator[tuple[McpServers, Changes]]:
    """The servers, each settled; `pauses_s` between attempts to connect."""
    changes = Changes()
    surroundings = Surroundings(
        work_dir=home, share_dir=home, asking=askings or Askings(), roots=(home,), pauses_s=pauses_s
    )
    servers = McpServers(configs, surroundings, changed=changes)
    running = asyncio.ensure_future(servers.run())
    try:
        assert await servers.settled(within_s=PATIENCE_S)
        yield servers, changes
    finally:
        running.cancel()
        await asyncio.wait([running])


@asynccontextmanager
async def one_connected(config: ServerConfig, home: Path, **options: Any) -> AsyncIterator[McpServer]:
    async with connected(config, home=home, **options) as (servers, _):
        yield servers.all[0]
