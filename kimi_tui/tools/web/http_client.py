"""HTTP client: TLS, timeouts and the proxy settings of the environment."""

import asyncio
import ssl
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kimi_tui.base.errors import WebProblem
from kimi_tui.version import __version__

if TYPE_CHECKING:
    import httpx

USER_AGENT = f"Mozilla/5.0 (compatible; kimi-tui/{__version__})"
CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 20.0
"""How long a server may send nothing."""


def find_proxy(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment (`HTTPS_PROXY`, `NO_PROXY` ...) or the system sets for a server.

    Raises WebProblem if its type isn't supported.
    """
    from urllib.request import getproxies, proxy_bypass  # slow to import, and most sessions don't need it

    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise WebProblem(
            f"The proxy for {scheme} has the unsupported type {urlsplit(proxy).scheme}.",
            hint="Tell the user to set HTTPS_PROXY to an HTTP proxy, or NO_PROXY to *.",
        )
    return proxy


async def build_client(proxy: str | None) -> "httpx.AsyncClient":
    """Return a client without cookies and redirects that uses no other settings of the environment."""
    context = await asyncio.to_thread(_load_tls_context)
    import httpx

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
    import httpx

    return httpx.create_ssl_context()
