"""Client of OpenAI's SDK for one server. Sends encoded requests and returns streamed responses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from kimi_tui.base.errors import APIStatusError
from kimi_tui.llm.provider import ProviderSettings
from kimi_tui.llm.transport.context_limit import is_context_limit
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.errors import connection_error, transport_errors
from kimi_tui.llm.transport.http_errors import ServerMessage, parse_server_message, status_error
from kimi_tui.llm.transport.lean_import import import_lean
from kimi_tui.llm.transport.response_stream import StreamedResponse
from kimi_tui.llm.transport.sdk_client import SdkClient
from kimi_tui.llm.transport.tls import ssl_context_for

if TYPE_CHECKING:
    import openai

_REJECTED_STATUSES = (400, 422)


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
    """Connections to one server through OpenAI's SDK. The first request imports it.

    Raises ConfigError for an invalid base URL, key or header.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self.endpoint = Endpoint.from_settings(settings)
        self._settings = settings
        self._client: SdkClient[openai.AsyncOpenAI] = SdkClient(self)
        self._has_answered = False

    async def post(self, path: str, body: bytes) -> StreamedResponse | Rejection:
        """Send `body`, which is JSON, to `path`. Return the response before its body is read.

        Raises ChatProviderError if the server can't be reached.
        """
        client = await self._client.get()

        import openai

        unreachable: tuple[type[Exception], ...] = (openai.APIConnectionError, *transport_errors())
        response: StreamedResponse | Rejection
        try:
            response = await self._post(client, path, body)
        except openai.APIStatusError as error:
            # Returned, not raised from here: the SDK's error may repeat a key that the server echoed.
            response = Rejection(
                error.status_code, parse_server_message(error.response.text), error.response.headers
            )
        except unreachable as error:
            raise connection_error(error, self.endpoint, has_answered=self._has_answered) from error
        self._has_answered = True
        return response

    async def prepare(self) -> None:
        """Create the SDK's client. Raises ChatProviderError."""
        await self._client.get()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _post(self, client: "openai.AsyncOpenAI", path: str, body: bytes) -> StreamedResponse:
        import httpx2
        import openai

        headers: dict[str, str | openai.Omit] = {"Accept": "text/event-stream"}
        if not self.endpoint.api_key and "authorization" not in map(str.lower, self.endpoint.headers):
            headers["Authorization"] = openai.Omit()
        response: object = await client.post(
            path,
            cast_to=httpx2.Response,
            content=body,
            options={"headers": headers},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        return cast("StreamedResponse", response)

    def create_client(self) -> "openai.AsyncOpenAI":
        """Implement `ClientFactory.create_client`."""
        import_lean("openai")

        import httpx2
        import openai

        from kimi_tui.llm.transport.redirect_guard import KEY_HEADERS, RedirectGuard

        guard = RedirectGuard(self.endpoint.base_url, (*KEY_HEADERS, *self.endpoint.headers))
        idle, connect = self._settings.idle_timeout_s, self._settings.connect_timeout_s
        return openai.AsyncOpenAI(
            api_key=self.endpoint.api_key or "none",
            base_url=self.endpoint.base_url,
            default_headers=self.endpoint.headers,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                timeout=httpx2.Timeout(idle, connect=connect),
                verify=ssl_context_for(self.endpoint.base_url),
                event_hooks={"request": [guard.remove_keys]},
            ),
        )
