"""The MCP servers of a session: connected side by side, none waiting for another."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from kimi_tui.tools.mcp.server import McpServer, Surroundings
from kimi_tui.tools.mcp.server_config import ServerEntry, UnusableServer

logger = logging.getLogger(__name__)


class McpServers:
    """Those that can be used, and those that can't. `run` connects them until it is cancelled."""

    def __init__(
        self, entries: Sequence[ServerEntry], surroundings: Surroundings, *, changed: Callable[[], None]
    ) -> None:
        self._surroundings = surroundings
        self.unusable = tuple(entry for entry in entries if isinstance(entry, UnusableServer))
        self.all = tuple(
            McpServer(entry, surroundings, changed=changed)
            for entry in entries
            if not isinstance(entry, UnusableServer)
        )

    @property
    def connected(self) -> tuple[McpServer, ...]:
        """Those that can be asked now."""
        return tuple(server for server in self.all if server.state == "connected")

    @property
    def is_settled(self) -> bool:
        """Whether every server has answered or failed once."""
        return all(server.settled.is_set() for server in self.all)

    def named(self, name: str) -> McpServer | None:
        """The server of that name."""
        return next((server for server in self.all if server.name == name), None)

    async def run(self) -> None:
        """Keep every server connected; the processes have ended when it has."""
        try:
            async with asyncio.TaskGroup() as group:
                for server in self.all:
                    group.create_task(self._run(server))
        finally:
            await self._surroundings.leash.close()

    async def settled(self, *, within_s: float) -> bool:
        """Wait until every server has answered or failed once; whether they have, in that time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                for server in self.all:
                    await server.settled.wait()
        return self.is_settled

    async def _run(self, server: McpServer) -> None:
        try:
            await server.run()
        except Exception:  # a defect with one server costs that server
            logger.exception("the MCP server %s broke", server.name)
