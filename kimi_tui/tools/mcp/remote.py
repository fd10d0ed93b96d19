"""The transports to servers at an address: streamable HTTP, and server-sent events."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, assert_never

import httpx2
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from fastmcp.client.transports.http import StreamableHttpTransport
from fastmcp.client.transports.sse import SSETransport
from mcp import ClientSession

from kimi_tui.base.terminal import plain_line
from kimi_tui.tools.mcp.server_config import RemoteServer
from kimi_tui.tools.mcp.session import TolerantSession

_CONNECT_S = 30.0
_LISTENING_S = 24 * 3600.0
"""A stream of events may be silent for long; calls have a limit of their own."""


class Exchange:
    """What went over HTTP last, as far as it explains a failure: the protocol's errors don't tell."""

    def __init__(self) -> None:
        self.failed_status = 0
        """The HTTP status of the last answer when it is an error, else 0."""
        self.failure = ""
        """Why the last request got no answer."""

    async def note(self, response: httpx2.Response) -> None:
        """An answer came."""
        self.failure = ""
        if response.request.method == "POST":
            self.failed_status = response.status_code if response.status_code >= 400 else 0

    def note_failure(self, error: Exception) -> None:
        """None came."""
        self.failure = plain_line(str(error))[:300] or type(error).__name__


class _NotingClient(httpx2.AsyncClient):
    """Tells of requests that get no answer."""

    def __init__(self, exchange: Exchange, **options: Any) -> None:
        super().__init__(**options)
        self._exchange = exchange

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send `request`."""
        try:
            return await super().send(request, **options)
        except httpx2.TransportError as error:
            self._exchange.note_failure(error)
            raise


class _Tolerant(ClientTransport):
    """A transport whose sessions are tolerant ones."""

    def __init__(self, inner: ClientTransport) -> None:
        self._inner = inner
        self.legacy_only = inner.legacy_only

    @asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Any
    ) -> AsyncIterator[ClientSession]:
        """A session; which class it is of is not for the client to say."""
        tolerant = TransportOptions(session_class=TolerantSession)
        async with self._inner.connect_session(transport_options=tolerant, **session_kwargs) as session:
            yield session

    async def close(self) -> None:
        """Close the transport."""
        await self._inner.close()  # type: ignore[no-untyped-call]

    def get_session_id(self) -> str | None:
        """The session's id, for tracing."""
        return self._inner.get_session_id()


def remote_transport(
    server: RemoteServer, *, auth: httpx2.Auth | None, exchange: Exchange
) -> ClientTransport:
    """The transport to `server`; what its HTTP comes to is noted in `exchange`."""

    def client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
        follow_redirects: bool = True,
    ) -> httpx2.AsyncClient:
        return _NotingClient(
            exchange,
            headers=headers,
            timeout=timeout or httpx2.Timeout(_CONNECT_S, read=_LISTENING_S),
            auth=auth,
            follow_redirects=follow_redirects,
            event_hooks={"response": [exchange.note]},
        )

    match server.transport:
        case "http":
            return _Tolerant(
                StreamableHttpTransport(
                    server.url, headers=dict(server.headers), auth=auth, httpx_client_factory=client
                )
            )
        case "sse":
            return _Tolerant(
                SSETransport(
                    server.url,
                    headers=dict(server.headers),
                    auth=auth,
                    httpx_client_factory=client,
                    sse_read_timeout=_LISTENING_S,
                )
            )
        case _:
            assert_never(server.transport)
