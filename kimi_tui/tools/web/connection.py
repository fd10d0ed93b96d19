"""Connections to web servers: TLS, time limits and the proxy that the environment names."""

import asyncio
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kimi_tui import __version__
from kimi_tui.base.errors import WebProblem

if TYPE_CHECKING:
    import ssl

    import httpx

USER_AGENT = f"Mozilla/5.0 (compatible; kimi-tui/{__version__})"
CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 20.0
"""How long a server may keep silent."""


def proxy_for(scheme: str, host: str) -> str | None:
    """The proxy that the environment (`HTTPS_PROXY`, `NO_PROXY` ...) or the system names for a server.

    Raises WebProblem when it is of a kind that can't be used.
    """
    from urllib.request import getproxies, proxy_bypass  # takes a while, and most sessions fetch nothing

    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise WebProblem(
            f"The proxy for {scheme} is of the kind {urlsplit(proxy).scheme}, which can't be used.",
            hint="Tell the user to set HTTPS_PROXY to an HTTP proxy, or NO_PROXY to *.",
        )
    return proxy


async def new_client(proxy: str | None) -> "httpx.AsyncClient":
    """A client that keeps no cookies, follows no redirects and takes nothing else from the environment."""
    context = await asyncio.to_thread(_tls)
    import httpx

    return httpx.AsyncClient(
        verify=context,
        proxy=proxy,
        trust_env=False,
        follow_redirects=False,
        timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
        headers={"User-Agent": USER_AGENT},
    )


@cache
def _tls() -> "ssl.SSLContext":
    """Loading httpx and the certificates takes a fifth of a second: once, and off the event loop."""
    import httpx

    return httpx.create_ssl_context()
