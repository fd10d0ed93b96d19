"""Guard against redirects that would send an API key to another server."""

from collections.abc import Collection
from urllib.parse import urlsplit

import httpx2

KEY_HEADERS = ("Authorization", "X-Api-Key", "Api-Key", "Cookie")
"""Headers that contain keys."""


class RedirectGuard:
    """Removes keys from requests to other servers.

    Used as a request hook of an HTTP client, which also calls the hook for each redirect.
    """

    def __init__(self, base_url: str, names: Collection[str]) -> None:
        """`names`: headers to send only to the server at `base_url`."""
        self._server = _server_of(base_url)
        self._names = names

    async def remove_keys(self, request: httpx2.Request) -> None:
        """Remove the keys if `request` goes to another host or port."""
        if _server_of(str(request.url)) == self._server:
            return
        for name in self._names:
            if name in request.headers:
                del request.headers[name]


def _server_of(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url)
    return parts.hostname, parts.port
