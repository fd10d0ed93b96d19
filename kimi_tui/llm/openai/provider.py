"""Provider for the Chat Completions API: OpenAI, Kimi and compatible servers. Uses OpenAI's SDK."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from kimi_tui.base.message import Message
from kimi_tui.llm.capabilities import capabilities_of
from kimi_tui.llm.openai.dialect import ChatDialect, openai_dialect
from kimi_tui.llm.openai.request import RequestStyle, encode_tools
from kimi_tui.llm.openai.stream import ChatStream
from kimi_tui.llm.provider import ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.transport.context_limit import is_context_limit
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.errors import connection_error, transport_errors
from kimi_tui.llm.transport.http_errors import ServerMessage, parse_server_message, status_error
from kimi_tui.llm.transport.json_body import encode_body, encode_body_with
from kimi_tui.llm.transport.lean_import import import_lean
from kimi_tui.llm.transport.request_cache import RequestCache
from kimi_tui.llm.transport.response_stream import response_parts
from kimi_tui.llm.transport.sdk_client import SdkClient
from kimi_tui.llm.transport.tls import ssl_context_for

if TYPE_CHECKING:
    import httpx2
    import openai

_OPTIONAL_FIELDS = ("stream_options", "reasoning_effort", "prompt_cache_key", "thinking")
"""Fields that a server may not know and that a request works without."""


class OpenAIChatProvider:
    """A model behind the Chat Completions API. The first request imports the SDK.

    Raises ConfigError for an invalid base URL, key or header.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        dialect: ChatDialect | None = None,
        *,
        effort: ThinkingEffort | None = None,
        connection: "ChatConnection | None" = None,
    ) -> None:
        self._settings = settings
        self._connection = connection or ChatConnection(settings)
        self._dialect = dialect or openai_dialect(
            self._connection.endpoint.base_url, settings.model, reasoning_key=settings.reasoning_key
        )
        self._effort = effort

    @property
    def model_name(self) -> str:
        """The model's name on its server."""
        return self._settings.model

    def with_thinking(self, effort: ThinkingEffort) -> "OpenAIChatProvider":
        """Return a provider with another effort that shares this one's connections."""
        return OpenAIChatProvider(self._settings, self._dialect, effort=effort, connection=self._connection)

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the model's response; see `ChatProvider.generate`."""
        style = self._request_style(system_prompt)
        request = await self._connection.request_cache.build_request(style, history)
        response = await self._connection.send(self._request_fields(), tools, request.json)
        endpoint = self._connection.endpoint
        async with aclosing(
            response_parts(
                response, ChatStream(endpoint, reasoning_key=self._dialect.reasoning_key), endpoint
            )
        ) as parts:
            async for part in parts:
                yield part

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Import the SDK and encode `history`, so that the first response arrives sooner."""
        await self._connection.prepare()
        await self._connection.request_cache.prepare(self._request_style(system_prompt), history)

    async def aclose(self) -> None:
        """Close the connections of this provider and of its copies from `with_thinking`."""
        await self._connection.aclose()

    def _request_style(self, system_prompt: str) -> RequestStyle:
        return RequestStyle(system_prompt, self._dialect, self._effort)

    def _request_fields(self) -> dict[str, Any]:
        dialect, settings = self._dialect, self._settings
        fields: dict[str, Any] = {
            "model": settings.model,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if limit := settings.max_output_tokens or dialect.default_output_limit:
            fields[dialect.output_limit_field] = limit
        if dialect.has_cache_key and settings.session_id:
            fields["prompt_cache_key"] = settings.session_id
        fields |= {
            name: value
            for name, value in (("temperature", settings.temperature), ("top_p", settings.top_p))
            if value is not None
        }
        if self._effort is not None:
            fields |= dialect.thinking_fields(settings.model, self._effort, capabilities_of(settings))
        if settings.thinking_keep and fields.get("thinking", {}).get("type") == "enabled":
            fields["thinking"] = {**fields["thinking"], "keep": settings.thinking_keep}
        return fields


class ChatConnection:
    """Connections to a server, and the request fields that it rejected.

    A request that is rejected because of an optional field is repeated without it, and later requests omit
    it as well.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self.endpoint = Endpoint.from_settings(settings)
        self._settings = settings
        self._client: SdkClient[openai.AsyncOpenAI] = SdkClient(self)
        self._has_answered = False
        self._unknown_fields: set[str] = set()
        self._tools: tuple[Sequence[ToolSchema], bytes] = ((), b"[]")
        """The tools of the last request and their JSON."""
        self.request_cache = RequestCache[RequestStyle]()

    async def send(
        self, fields: dict[str, Any], tools: Sequence[ToolSchema], messages: bytes
    ) -> "httpx2.Response":
        """Send a request of `fields`, `tools` and the JSON of `messages`. Return the response before its
        body is read.

        Raises ChatProviderError.
        """
        client = await self._client.get()

        import openai

        encoded_tools = {"tools": self._tools_json(tools)} if tools else {}
        unreachable: tuple[type[Exception], ...] = (openai.APIConnectionError, *transport_errors())
        while True:
            request = {name: value for name, value in fields.items() if name not in self._unknown_fields}
            try:
                body = encode_body_with(request, **encoded_tools, messages=messages)
                response = await self._post(client, body)
            except openai.APIStatusError as error:
                self._has_answered = True
                message = parse_server_message(error.response.text)
                status, headers = error.status_code, error.response.headers
            except unreachable as error:
                raise connection_error(error, self.endpoint, has_answered=self._has_answered) from error
            else:
                self._has_answered = True
                return response
            unknown_field = _unknown_field(status, message, request)
            if unknown_field is None:
                # Raised outside of the except block: the SDK's error may repeat a key that the server echoed.
                raise status_error(self.endpoint, status, message, headers)
            self._unknown_fields.add(unknown_field)

    async def prepare(self) -> None:
        """Create the client. Raises ChatProviderError."""
        await self._client.get()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _tools_json(self, tools: Sequence[ToolSchema]) -> bytes:
        if self._tools[0] != tools:
            self._tools = tools, encode_body(encode_tools(tools))
        return self._tools[1]

    async def _post(self, client: "openai.AsyncOpenAI", body: bytes) -> "httpx2.Response":
        import httpx2
        import openai

        headers: dict[str, str | openai.Omit] = {"Accept": "text/event-stream"}
        if not self.endpoint.api_key and "authorization" not in map(str.lower, self.endpoint.headers):
            headers["Authorization"] = openai.Omit()
        response = await client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            content=body,
            options={"headers": headers},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        return cast("httpx2.Response", response)

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


def _unknown_field(status: int, server_message: ServerMessage, request: dict[str, Any]) -> str | None:
    """Return the optional field because of which the server rejected `request`, if any."""
    if status not in {400, 422} or is_context_limit(str(server_message)):
        return None
    return next((name for name in _OPTIONAL_FIELDS if name in request and name in str(server_message)), None)
