"""Client of one server with OpenAI's API. Sends encoded requests and returns streamed responses.

The client doesn't use OpenAI's SDK: importing the SDK takes longer than the rest of a short run, and it would
only add headers to these requests.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kimi_tui.base.errors import APIStatusError
from kimi_tui.llm.provider import ProviderSettings
from kimi_tui.llm.transport.context_limit import is_context_limit
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.errors import connection_error, transport_errors
from kimi_tui.llm.transport.http_errors import ServerMessage, parse_server_message, status_error
from kimi_tui.llm.transport.shared_client import SharedClient
from kimi_tui.llm.transport.tls import ssl_context_for
from kimi_tui.version import __version__

if TYPE_CHECKING:
    import httpx2

_REJECTED_STATUSES = (400, 422)
_ACCOUNT_HEADERS = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Environment variables for the account to bill, as in OpenAI's SDK, and the corresponding headers."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A server's refusal of a request."""

    status: int
    message: ServerMessage
    headers: Mapping[str, str]

    @property
    def is_about_fields(self) -> bool:
        """Whether another request with the same conversation could succeed."""
        return self.status in _REJECTED_STATUSES and not is_context_limit(str(self.message))

    def to_error(self, endpoint: Endpoint) -> APIStatusError:
        """Return the error to raise for this refusal."""
        return status_error(endpoint, self.status, self.message, self.headers)


class OpenAIClient:
    """Connections to one server. The first request imports the HTTP client.

    Raises ConfigError for an invalid base URL, key or header.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self.endpoint = Endpoint.from_settings(settings)
        self._settings = settings
        self._client: SharedClient[httpx2.AsyncClient] = SharedClient(self)
        self._has_answered = False

    async def post(self, path: str, body: bytes) -> "httpx2.Response | Rejection":
        """Send the JSON in `body` to `path`. Return the response before its body is read.

        Raises ChatProviderError if the server can't be reached.
        """
        client = await self._client.get()
        try:
            response = await client.send(client.build_request("POST", path, content=body), stream=True)
            if not response.is_success:
                await response.aread()
        except transport_errors() as error:
            raise connection_error(error, self.endpoint, has_answered=self._has_answered) from error
        self._has_answered = True
        if response.is_success:
            return response
        return Rejection(response.status_code, parse_server_message(response.text), response.headers)

    async def prepare(self) -> None:
        """Create the HTTP client. Raises ChatProviderError."""
        await self._client.get()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def create_client(self) -> "httpx2.AsyncClient":
        """Implement `ClientFactory.create_client`."""
        import httpx2

        from kimi_tui.llm.transport.redirect_guard import KEY_HEADERS, RedirectGuard

        guard = RedirectGuard(self.endpoint.base_url, (*KEY_HEADERS, *self.endpoint.headers))
        idle, connect = self._settings.idle_timeout_s, self._settings.connect_timeout_s
        headers = httpx2.Headers(self._default_headers())
        headers.update(self.endpoint.headers)
        return httpx2.AsyncClient(
            base_url=self.endpoint.base_url,
            headers=headers,
            timeout=httpx2.Timeout(idle, connect=connect),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            follow_redirects=True,
            verify=ssl_context_for(self.endpoint.base_url),
            event_hooks={"request": [guard.remove_keys]},
        )

    async def close_client(self, client: "httpx2.AsyncClient") -> None:
        """Implement `ClientFactory.close_client`."""
        await client.aclose()

    def _default_headers(self) -> dict[str, str]:
        accounts = {header: os.environ.get(name, "") for name, header in _ACCOUNT_HEADERS.items()}
        key = self.endpoint.api_key
        return {
            "Accept": "text/event-stream",
            "Content-Type": "application/json",
            "User-Agent": f"kimi-tui/{__version__}",
            **{header: value for header, value in accounts.items() if value},
            **({"Authorization": f"Bearer {key}"} if key else {}),
        }
