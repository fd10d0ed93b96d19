"""Provider for Anthropic's Messages API and compatible servers. Uses Anthropic's SDK."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from kimi_tui.base.message import Message
from kimi_tui.llm.anthropic.models import ClaudeModel
from kimi_tui.llm.anthropic.request import (
    TurnStyle,
    collect_signatures,
    last_response_starts_with_thinking,
    tools_and_system,
)
from kimi_tui.llm.anthropic.stream import MessagesStream
from kimi_tui.llm.capabilities import capabilities_of
from kimi_tui.llm.provider import ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.errors import connection_error, transport_errors
from kimi_tui.llm.transport.http_errors import ServerMessage, parse_server_message, status_error
from kimi_tui.llm.transport.json_body import encode_body_with
from kimi_tui.llm.transport.lean_import import import_lean
from kimi_tui.llm.transport.request_cache import CachedRequest, RequestCache
from kimi_tui.llm.transport.response_stream import response_parts
from kimi_tui.llm.transport.shared_client import SharedClient
from kimi_tui.llm.transport.tls import ssl_context_for

if TYPE_CHECKING:
    import anthropic
    import httpx2

_THINKING_REJECTED = re.compile(r"thinking.{0,80}(?:block|signature)|signature.{0,40}thinking", re.IGNORECASE)


class AnthropicMessagesProvider:
    """A model behind the Messages API. The first request imports the SDK.

    Raises ConfigError for an invalid base URL, key or header.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        effort: ThinkingEffort | None = None,
        connection: "AnthropicConnection | None" = None,
    ) -> None:
        self._settings = settings
        self._connection = connection or AnthropicConnection(settings)
        self._effort = effort

    @property
    def model_name(self) -> str:
        """The model's name on its server."""
        return self._settings.model

    def with_thinking(self, effort: ThinkingEffort) -> "AnthropicMessagesProvider":
        """Return a provider with another effort that shares this provider's connections."""
        return AnthropicMessagesProvider(self._settings, effort=effort, connection=self._connection)

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the model's response; see `ChatProvider.generate`."""
        fields = self._request_fields(system_prompt, tools)
        response = await self._connection.send(fields, history)
        endpoint = self._connection.endpoint
        async with aclosing(response_parts(response, MessagesStream(endpoint), endpoint)) as parts:
            async for part in parts:
                yield part

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Import the SDK and encode `history`, so that the first response arrives sooner."""
        await self._connection.prepare(history)

    async def aclose(self) -> None:
        """Close the connections of this provider and of its copies from `with_thinking`."""
        await self._connection.aclose()

    def _request_fields(self, system_prompt: str, tools: Sequence[ToolSchema]) -> dict[str, Any]:
        model = ClaudeModel.from_name(self._settings.model)
        limit = self._settings.max_output_tokens or model.default_output_limit
        sampling = {"temperature": self._settings.temperature, "top_p": self._settings.top_p}
        return {
            **{name: value for name, value in sampling.items() if value is not None},
            "model": self._settings.model,
            "max_tokens": limit,
            "stream": True,
            **model.thinking_fields(self._effort, limit, capabilities_of(self._settings)),
            **tools_and_system(system_prompt, tools),
        }


class AnthropicConnection:
    """Connections to a server, and the thinking signatures that it rejected.

    A signature is tied to a model, an account and a conversation. After a change of model or a compaction,
    the server may reject the signature. Then the request is repeated without the thinking, and later requests
    also omit this thinking.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self.endpoint = Endpoint.from_settings(settings)
        self._settings = settings
        self._client: SharedClient[anthropic.AsyncAnthropic] = SharedClient(self)
        self._has_answered = False
        self._style = TurnStyle()
        self._request_cache = RequestCache[TurnStyle]()

    async def send(self, fields: dict[str, Any], history: Sequence[Message]) -> "httpx2.Response":
        """Send a request of `fields` and `history`. Return the response before its body is read.

        Raises ChatProviderError.
        """
        client = await self._client.get()

        import anthropic

        unreachable: tuple[type[Exception], ...] = (anthropic.APIConnectionError, *transport_errors())
        while True:
            request = await self._request_cache.build_request(self._style, history)
            try:
                response = await self._post(client, _build_body(fields, request))
            except anthropic.APIStatusError as error:
                self._has_answered = True
                message = parse_server_message(error.response.text)
                status, headers = error.status_code, error.response.headers
            except unreachable as error:
                raise connection_error(error, self.endpoint, has_answered=self._has_answered) from error
            else:
                self._has_answered = True
                return response
            rejected = collect_signatures(history) - self._style.rejected_signatures
            if not rejected or not _rejects_thinking(status, message):
                # Raised outside of the except block: the SDK's error may repeat a key that the server echoed.
                raise status_error(self.endpoint, status, message, headers)
            self._style = TurnStyle(self._style.rejected_signatures | rejected)

    async def prepare(self, history: Sequence[Message]) -> None:
        """Create the client and encode `history`. Raises ChatProviderError."""
        await self._client.get()
        await self._request_cache.prepare(self._style, history)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _post(self, client: "anthropic.AsyncAnthropic", request: bytes) -> "httpx2.Response":
        import anthropic
        import httpx2

        custom_headers = {name.lower() for name in self.endpoint.headers}
        headers: dict[str, str | anthropic.Omit] = {"Accept": "text/event-stream"}
        if not self.endpoint.api_key and "authorization" not in custom_headers:
            headers["Authorization"] = anthropic.Omit()
        elif not self._is_anthropic and "x-api-key" not in custom_headers:
            headers["X-Api-Key"] = self.endpoint.api_key
        response = await client.post(
            "/v1/messages",
            cast_to=httpx2.Response,
            content=request,
            options={"headers": headers},
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )
        return cast("httpx2.Response", response)

    @property
    def _is_anthropic(self) -> bool:
        """Whether the server is Anthropic's own. Other servers may only support the older key header."""
        return self.endpoint.host.endswith("anthropic.com")

    def create_client(self) -> "anthropic.AsyncAnthropic":
        """Implement `ClientFactory.create_client`."""
        import_lean("anthropic")

        import anthropic
        import httpx2

        from kimi_tui.llm.transport.redirect_guard import KEY_HEADERS, RedirectGuard

        guard = RedirectGuard(self.endpoint.base_url, (*KEY_HEADERS, *self.endpoint.headers))
        idle, connect = self._settings.idle_timeout_s, self._settings.connect_timeout_s
        return anthropic.AsyncAnthropic(
            api_key=self.endpoint.api_key or "none",
            base_url=self.endpoint.base_url,
            default_headers=self.endpoint.headers,
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(
                timeout=httpx2.Timeout(idle, connect=connect),
                verify=ssl_context_for(self.endpoint.base_url),
                event_hooks={"request": [guard.remove_keys]},
            ),
            open_telemetry=False,
        )

    async def close_client(self, client: "anthropic.AsyncAnthropic") -> None:
        """Implement `ClientFactory.close_client`."""
        await client.close()


def _build_body(fields: dict[str, Any], cached: CachedRequest) -> bytes:
    has_budget = fields.get("thinking", {}).get("type") == "enabled"
    if (
        has_budget
        and cached.trailing_messages
        and not last_response_starts_with_thinking(cached.trailing_messages)
    ):
        fields = {name: it for name, it in fields.items() if name != "thinking"}
    return encode_body_with(fields, messages=cached.json)


def _rejects_thinking(status: int, server_message: ServerMessage) -> bool:
    return status == 400 and _THINKING_REJECTED.search(server_message.message) is not None
