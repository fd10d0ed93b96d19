"""Trying a server: one connection, to see what it offers."""

import time
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.tools.mcp.leash import Leash
from kimi_tui.tools.mcp.offer import Offer
from kimi_tui.tools.mcp.problem import McpProblem
from kimi_tui.tools.mcp.server import prepare
from kimi_tui.tools.mcp.server_config import RemoteServer, ServerConfig
from kimi_tui.tools.mcp.server_log import ServerLog
from kimi_tui.tools.mcp.signing_in import NobodyListens
from kimi_tui.tools.mcp.token_file import TokenFile, token_path


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it."""

    offer: Offer
    seconds: float


async def try_server(server: ServerConfig, *, share_dir: Path, work_dir: Path) -> Trial:
    """Connect, ask what it offers, and leave. Raises McpProblem."""
    await prepare()
    from kimi_tui.tools.mcp.connection import Connection
    from kimi_tui.tools.mcp.oauth import SignIn

    sign_in = None
    if isinstance(server, RemoteServer):
        tokens = TokenFile(token_path(share_dir, server.url))
        if tokens.has_tokens:
            sign_in = SignIn(server.url, tokens)
        elif server.oauth:
            raise McpProblem("You have not signed in to it.", hint=f"Use `kimi-tui mcp auth {server.name}`.")
    leash = Leash()
    listener = _Listener()
    began = time.monotonic()
    try:
        connection = await Connection.open(
            server,
            listener=listener,
            log=ServerLog(server.name, secrets=server.secrets),
            leash=leash,
            work_dir=work_dir,
            roots=(work_dir,),
            sign_in=sign_in,
        )
        try:
            return Trial(await connection.offer(), time.monotonic() - began)
        finally:
            await connection.close()
    except McpProblem as problem:
        raise (listener.problem if problem.breaks and listener.problem else problem) from None
    finally:
        await leash.close()


class _Listener(NobodyListens):
    """Remembers why a process was heard no more."""

    def __init__(self) -> None:
        self.problem: McpProblem | None = None

    def lost(self, problem: McpProblem) -> None:
        """The server is heard no more."""
        self.problem = self.problem or problem
