"""Having the user sign in to a server."""

from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.tools.mcp.leash import Leash
from kimi_tui.tools.mcp.listener import Elicitation, Elicited, Sampled, Sampling
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server import prepare
from kimi_tui.tools.mcp.server_config import RemoteServer
from kimi_tui.tools.mcp.server_log import ServerLog
from kimi_tui.tools.mcp.token_file import TokenFile, token_path

if TYPE_CHECKING:
    from kimi_tui.tools.mcp.oauth import Show

_SIGNING_IN_S = 330.0


async def sign_in(server: RemoteServer, *, share_dir: Path, show: "Show") -> None:
    """Get tokens for `server`, in place of earlier ones; `show` gets the address. Raises McpProblem."""
    tokens = TokenFile(token_path(share_dir, server.url))
    tokens.forget()
    await prepare()
    from kimi_tui.tools.mcp.connection import Connection
    from kimi_tui.tools.mcp.oauth import SignIn

    connection = await Connection.open(
        server,
        listener=NobodyListens(),
        log=ServerLog(server.name, secrets=server.secrets),
        leash=Leash(),
        work_dir=Path.cwd(),
        roots=(),
        sign_in=SignIn(server.url, tokens, show=show),
        within_s=_SIGNING_IN_S,
    )
    await connection.close()
    if not tokens.has_tokens:
        raise McpProblem(f"{server.name} lets you in without signing in.", hint="There is nothing to do.")


class NobodyListens:
    """A `Listener` for a connection that is made to be tried."""

    def lost(self, problem: McpProblem) -> None:
        """Nothing: whoever waits for an answer gets the problem."""

    def offer_changed(self) -> None:
        """Nothing."""

    async def elicit(self, wanted: Elicitation) -> Elicited:
        """Nobody is asked."""
        return Elicited("cancel")

    async def sample(self, wanted: Sampling) -> Sampled:
        """Raises McpProblem."""
        raise McpProblem("There is no model to ask.")
