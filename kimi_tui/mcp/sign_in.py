"""Interactive sign-in to a server."""

from pathlib import Path

from kimi_tui.mcp.client_handler import ElicitationRequest, ElicitationResult, SamplingRequest, SamplingResult
from kimi_tui.mcp.errors import McpServerError
from kimi_tui.mcp.process_reaper import ProcessReaper
from kimi_tui.mcp.server import preload_connection
from kimi_tui.mcp.server_config import RemoteServer
from kimi_tui.mcp.server_log import ServerLog
from kimi_tui.mcp.sign_in_page import SignInPage
from kimi_tui.mcp.token_store import TokenStore, token_path

_SIGN_IN_TIMEOUT_S = 330.0


async def sign_in_to_server(server: RemoteServer, *, data_dir: Path, page: SignInPage) -> None:
    """Replace the tokens for `server`. `page` shows the server's sign-in page. Raises McpServerError."""
    tokens = TokenStore(token_path(data_dir, server.url))
    tokens.clear()
    await preload_connection()
    from kimi_tui.mcp.connection import McpConnection
    from kimi_tui.mcp.oauth import McpOAuth

    connection = await McpConnection.connect(
        server,
        handler=NonInteractiveHandler(),
        log=ServerLog(server.name, secrets=server.secrets),
        reaper=ProcessReaper(),
        work_dir=Path.cwd(),
        roots=(),
        sign_in=McpOAuth(server.url, tokens, scopes=server.scopes, page=page),
        timeout_s=_SIGN_IN_TIMEOUT_S,
    )
    await connection.close()
    if not tokens.has_tokens:
        raise McpServerError(f"{server.name} doesn't require a sign-in.", hint="No action is needed.")


class NonInteractiveHandler:
    """A `ClientHandler` for short-lived connections."""

    def on_connection_lost(self, error: McpServerError) -> None:
        """Do nothing: pending requests raise the error."""

    def on_features_changed(self) -> None:
        """Do nothing."""

    async def elicit(self, request: ElicitationRequest) -> ElicitationResult:
        """Cancel the request."""
        return ElicitationResult("cancel")

    async def sample(self, request: SamplingRequest) -> SamplingResult:
        """Raise McpServerError."""
        raise McpServerError("Sampling isn't available.")
