"""Check of a server: connects once and fetches its features."""

import time
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.process_reaper import ProcessReaper
from kimi_tui.mcp.server import preload_connection
from kimi_tui.mcp.server_config import RemoteServer, ServerConfig
from kimi_tui.mcp.server_features import ServerFeatures
from kimi_tui.mcp.server_log import ServerLog
from kimi_tui.mcp.sign_in import NonInteractiveHandler
from kimi_tui.mcp.token_store import TokenStore, token_path


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """Result of a successful check."""

    features: ServerFeatures
    seconds: float


async def check_connection(server: ServerConfig, *, data_dir: Path, work_dir: Path) -> ConnectionCheck:
    """Connect, fetch the server's features, and disconnect. Raises McpServerError."""
    await preload_connection()
    from kimi_tui.mcp.connection import McpConnection
    from kimi_tui.mcp.oauth import McpOAuth

    sign_in = None
    if isinstance(server, RemoteServer):
        tokens = TokenStore(token_path(data_dir, server.url))
        if tokens.has_tokens:
            sign_in = McpOAuth(server.url, tokens, scopes=server.scopes)
        elif server.oauth:
            raise McpServerError("Not signed in.", hint=f"Run `kimi-tui mcp auth {server.name}`.")
    reaper = ProcessReaper()
    handler = _CheckHandler()
    started_at = time.monotonic()
    try:
        connection = await McpConnection.connect(
            server,
            handler=handler,
            log=ServerLog(server.name, secrets=server.secrets),
            reaper=reaper,
            work_dir=work_dir,
            roots=(work_dir,),
            sign_in=sign_in,
        )
        try:
            return ConnectionCheck(await connection.fetch_features(), time.monotonic() - started_at)
        finally:
            await connection.close()
    except McpServerError as error:
        raise (handler.error if error.closes_connection and handler.error else error) from None
    finally:
        await reaper.close()


class _CheckHandler(NonInteractiveHandler):
    """Records why the connection was lost."""

    def __init__(self) -> None:
        self.error: McpServerError | None = None

    def on_connection_lost(self, error: McpServerError) -> None:
        """Record the first error."""
        self.error = self.error or error
