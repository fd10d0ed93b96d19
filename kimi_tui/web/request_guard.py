"""Checks of the browser's requests, which any page that the user visits can cause.

A request must name this machine as its host, so that a foreign domain whose address was changed to loopback
(DNS rebinding) is refused. One that changes anything or opens a WebSocket must come from our own page.
"""

from collections.abc import Mapping

LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


def is_local_host(headers: Mapping[str, str]) -> bool:
    """Return whether the `Host` header names this machine, with any port: a tunnel may use another one."""
    name, colon, port = headers.get("Host", "").rpartition(":")
    host = name if colon and port.isdigit() else headers.get("Host", "")
    return host.lower() in LOCAL_HOSTS


def is_own_page(headers: Mapping[str, str]) -> bool:
    """Return whether the request comes from a page of this server, as the browser reports it."""
    if headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        return False
    return is_local_host(headers) and headers.get("Origin", "") == f"http://{headers.get('Host', '')}"
