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


NO_METHOD = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "Method not found"}}'


class ForgottenSessions:
    """Rejects the sessions begun before `forget`, as a server that was restarted or cleaned up.

    The server knows only the protocol versions that have sessions.
    """

    def __init__(self, error_body: bytes) -> None:
        self._error_body = error_body
        self._seen: set[bytes] = set()
        self._forgotten: set[bytes] = set()

    @property
    def count(self) -> int:
        """Number of sessions so far."""
        return len(self._seen)

    def forget(self) -> None:
        """Forget all sessions so far."""
        self._forgotten |= self._seen

    def guard(self, app: Any) -> Any:
        """Return an ASGI application that answers requests of forgotten sessions with status 404."""

        async def guarded(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            session = dict(scope["headers"]).get(b"mcp-session-id")
            if session is not None:
                self._seen.add(session)
            request = await receive()
            if b'"server/discover"' in request.get("body", b""):
                await _send_not_found(send, NO_METHOD)
            elif session in self._forgotten:
                await _send_not_found(send, self._error_body)
            else:
                await app(scope, _prepend(request, receive), send)

        return guarded


def _prepend(message: Any, receive: Any) -> Any:
    messages = [message]

    async def receive_next() -> Any:
        return messages.pop() if messages else await receive()

    return receive_next


async def _send_not_found(send: Any, body: bytes) -> None:
    headers = [(b"content-type", b"application/json")] if body else []
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def serve_greeter(
    transport: Literal["http", "sse"],
    *,
    token: str = "",
    oauth: bool = False,
    sessions: "ForgottenSessions | None" = None,
) -> AsyncIterator[str]:
    """Serve a tool that greets; yields the URL. The server may require a token or a sign-in.

    It rejects the sessions that `sessions` has forgotten.
    """
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
    async with serve_app(sessions.guard(app) if sessions is not None else app, sock):
        yield f"{address}/mcp"
