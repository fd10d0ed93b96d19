"""Transports to remote servers: streamable HTTP and server-sent events."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, assert_never

import httpx2
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from fastmcp.client.transports.http import StreamableHttpTransport
from fastmcp.client.transports.sse import SSETransport
from mcp import ClientSession
from mcp_types import METHOD_NOT_FOUND

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.llm.transport.redirect_guard import RedirectGuard
from kimi_tui.mcp.server_config import RemoteServer
from kimi_tui.mcp.tolerant_session import TolerantSession

_CONNECT_TIMEOUT_S = 30.0
_STREAM_TIMEOUT_S = 24 * 3600.0
"""An event stream may be silent for hours. Calls have their own timeout."""


_SDK_EXPIRY_MESSAGE = "Session terminated"
"""Message of the SDK's error for an expired session, if the response has no message."""


class HttpExchange:
    """Records the last HTTP exchange to explain failures. The protocol's errors lack these details."""

    def __init__(self) -> None:
        self.failed_status = 0
        """HTTP status of the last response to a POST request if it is an error, otherwise 0."""
        self.failure = ""
        """Why the last request got no response; empty after a response."""
        self.expiry_messages: set[str] = set()
        """Error messages of responses that report an expired session: status 404 for a session id."""

    async def record_response(self, response: httpx2.Response) -> None:
        """Record a response."""
        self.failure = ""
        if response.request.method == "POST":
            self.failed_status = response.status_code if response.status_code >= 400 else 0
            if response.status_code == 404 and "mcp-session-id" in response.request.headers:
                self.expiry_messages.add(_error_message(await response.aread()))

    def record_failure(self, error: Exception) -> None:
        """Record a request without response."""
        self.failure = sanitize_line(str(error))[:300] or type(error).__name__


def _error_message(body: bytes) -> str:
    """Return the SDK's error message for a response with status 404 and this body."""
    try:
        error = json.loads(body)["error"]
        return "" if error["code"] == METHOD_NOT_FOUND else str(error["message"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return _SDK_EXPIRY_MESSAGE


class _RecordingClient(httpx2.AsyncClient):
    """HTTP client that records requests without a response."""

    def __init__(self, exchange: HttpExchange, **options: Any) -> None:
        super().__init__(**options)
        self._exchange = exchange

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send `request`."""
        try:
            return await super().send(request, **options)
        except httpx2.TransportError as error:
            self._exchange.record_failure(error)
            raise


class _TolerantTransport(ClientTransport):
    """Transport that creates tolerant sessions."""

    def __init__(self, inner: ClientTransport) -> None:
        self._inner = inner
        self.legacy_only = inner.legacy_only

    @asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Any
    ) -> AsyncIterator[ClientSession]:
        """Open a TolerantSession, ignoring the session class in `transport_options`."""
        tolerant = TransportOptions(session_class=TolerantSession)
        async with self._inner.connect_session(transport_options=tolerant, **session_kwargs) as session:
            yield session

    async def close(self) -> None:
        """Close the transport."""
        await self._inner.close()  # type: ignore[no-untyped-call]

    def get_session_id(self) -> str | None:
        """Return the session's id, for tracing."""
        return self._inner.get_session_id()


def build_http_transport(
    server: RemoteServer, *, auth: httpx2.Auth | None, exchange: HttpExchange
) -> ClientTransport:
    """Return a transport to `server` that records its HTTP exchanges in `exchange`."""

    guard = RedirectGuard(server.url, server.headers)

    def build_client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
        follow_redirects: bool = True,
    ) -> httpx2.AsyncClient:
        return _RecordingClient(
            exchange,
            headers=headers,
            timeout=timeout or httpx2.Timeout(_CONNECT_TIMEOUT_S, read=_STREAM_TIMEOUT_S),
            auth=auth,
            follow_redirects=follow_redirects,
            event_hooks={"request": [guard.remove_keys], "response": [exchange.record_response]},
        )

    match server.transport:
        case "http":
            return _TolerantTransport(
                StreamableHttpTransport(
                    server.url, headers=dict(server.headers), auth=auth, httpx_client_factory=build_client
                )
            )
        case "sse":
            return _TolerantTransport(
                SSETransport(
                    server.url,
                    headers=dict(server.headers),
                    auth=auth,
                    httpx_client_factory=build_client,
                    sse_read_timeout=_STREAM_TIMEOUT_S,
                )
            )
        case _:
            assert_never(server.transport)
