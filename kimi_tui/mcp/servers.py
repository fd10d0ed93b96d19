"""The MCP servers of a session, connected concurrently."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from kimi_tui.mcp.server import McpServer, ServerContext, ServerObserver
from kimi_tui.mcp.server_config import InvalidServer, ServerEntry

logger = logging.getLogger(__name__)


class McpServers:
    """Valid and invalid servers of a session. `run` keeps the valid servers connected until canceled."""

    def __init__(
        self, entries: Sequence[ServerEntry], context: ServerContext, observer: ServerObserver
    ) -> None:
        self._context = context
        self.invalid = tuple(entry for entry in entries if isinstance(entry, InvalidServer))
        self.all = tuple(
            McpServer(entry, context, observer) for entry in entries if not isinstance(entry, InvalidServer)
        )

    @property
    def connected(self) -> tuple[McpServer, ...]:
        """Servers that are connected now."""
        return tuple(server for server in self.all if server.state == "connected")

    @property
    def is_settled(self) -> bool:
        """Whether every server has connected or failed once."""
        return all(server.settled.is_set() for server in self.all)

    def find(self, name: str) -> McpServer | None:
        """Return the valid server `name`; None if it doesn't exist."""
        return next((server for server in self.all if server.name == name), None)

    async def run(self) -> None:
        """Keep every server connected. When this returns, the processes have exited."""
        try:
            async with asyncio.TaskGroup() as group:
                for server in self.all:
                    group.create_task(self._run_server(server))
        finally:
            await self._context.reaper.close()

    async def wait_until_settled(self, *, timeout_s: float) -> bool:
        """Wait up to `timeout_s` seconds until every server has connected or failed once.

        Return False on a timeout.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                for server in self.all:
                    await server.settled.wait()
        return self.is_settled

    async def _run_server(self, server: McpServer) -> None:
        try:
            await server.run()
        except Exception:  # a defect in handling one server must not affect the others
            logger.exception("MCP server %s crashed", server.name)
