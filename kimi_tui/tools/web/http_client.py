"""HTTP client: TLS and timeouts. Slow to import, so it is loaded with the first request."""

import asyncio
import ssl
from functools import cache

import httpx

from kimi_tui.version import __version__

USER_AGENT = f"Mozilla/5.0 (compatible; kimi-tui/{__version__})"
CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 20.0
"""How long a server may send nothing."""


async def build_client(proxy: str | None) -> httpx.AsyncClient:
    """Return a client without cookies and redirects that uses no other settings of the environment."""
    context = await asyncio.to_thread(_load_tls_context)
    return httpx.AsyncClient(
        verify=context,
        proxy=proxy,
        trust_env=False,
        follow_redirects=False,
        timeout=httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        headers={"User-Agent": USER_AGENT},
    )


@cache
def _load_tls_context() -> ssl.SSLContext:
    """Return the TLS context. Cached, and not for the event loop: loading the certificates takes 0.2 s."""
    return httpx.create_ssl_context()
