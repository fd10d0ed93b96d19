"""Proxy settings of the environment."""

from urllib.parse import urlsplit

from kimi_tui.base.errors import WebProblem


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
