"""Remote servers for tests, built with the SDK's server side."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal


@asynccontextmanager
async def serve_app(app: Any, sock: socket.socket) -> AsyncIterator[None]:
    import uvicorn

    config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serve_task = asyncio.ensure_future(server._serve(sockets=[sock]))
    try:
        while not server.started:
            await asyncio.sleep(0)
        yield
    finally:
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serve_task


def free_socket() -> tuple[socket.socket, str]:
    """Return a socket bound to a loopback port, and its URL."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    return sock, f"http://127.0.0.1:{sock.getsockname()[1]}"


@asynccontextmanager
async def serve_greeter(
    transport: Literal["http", "sse"], *, token: str = "", oauth: bool = False
) -> AsyncIterator[str]:
    """Serve a tool that greets; yields the URL. The server may require a token or a sign-in."""
    from fastmcp import FastMCP

    sock, address = free_socket()
    auth: Any = None
    if token:
        from fastmcp.server.auth import StaticTokenVerifier

        auth = StaticTokenVerifier({token: {"client_id": "me", "scopes": []}})
    if oauth:
        from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
        from mcp.server.auth.settings import ClientRegistrationOptions

        auth = InMemoryOAuthProvider(
            base_url=address, client_registration_options=ClientRegistrationOptions(enabled=True)
        )
    server = FastMCP("greeter", auth=auth)

    @server.tool
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    app = server.http_app(path="/mcp", transport=transport)
    async with serve_app(app, sock):
        yield f"{address}/mcp"
