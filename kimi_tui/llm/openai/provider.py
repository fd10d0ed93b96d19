"""Provider for the Chat Completions API: OpenAI, Kimi and compatible servers."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from kimi_tui.base.message import Message
from kimi_tui.llm.capabilities import capabilities_of
from kimi_tui.llm.openai.client import OpenAIClient, Rejection
from kimi_tui.llm.openai.dialect import ChatDialect, openai_dialect
from kimi_tui.llm.openai.request import RequestStyle, encode_tools
from kimi_tui.llm.openai.stream import ChatStream
from kimi_tui.llm.provider import ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.transport.json_body import encode_body, encode_body_with
from kimi_tui.llm.transport.request_cache import RequestCache
from kimi_tui.llm.transport.response_stream import StreamedResponse, response_parts

_OPTIONAL_FIELDS = ("stream_options", "reasoning_effort", "prompt_cache_key", "thinking")
"""Optional fields that a server may reject."""


class OpenAIChatProvider:
    """A model behind the Chat Completions API. The first request imports the HTTP client.

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
        """Return a provider with another effort that shares this provider's connections."""
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
        """Import the HTTP client and encode `history`, so that the first response arrives sooner."""
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

    If a server rejects a request because of an optional field, the request is repeated without this field.
    Later requests also omit the field.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self._client = OpenAIClient(settings)
        self.endpoint = self._client.endpoint
        self._unknown_fields: set[str] = set()
        self._tools: tuple[Sequence[ToolSchema], bytes] = ((), b"[]")
        """The tools of the last request and their JSON."""
        self.request_cache = RequestCache[RequestStyle]()

    async def send(
        self, fields: dict[str, Any], tools: Sequence[ToolSchema], messages: bytes
    ) -> StreamedResponse:
        """Send a request with `fields`, `tools` and the encoded `messages`.

        Return the response before its body is read. Raises ChatProviderError.
        """
        await self._client.prepare()
        encoded_tools = {"tools": self._tools_json(tools)} if tools else {}
        while True:
            request = {name: value for name, value in fields.items() if name not in self._unknown_fields}
            body = encode_body_with(request, **encoded_tools, messages=messages)
            response = await self._client.post("/chat/completions", body)
            if not isinstance(response, Rejection):
                return response
            unknown_field = _unknown_field(response, request)
            if unknown_field is None:
                raise response.to_error(self.endpoint)
            self._unknown_fields.add(unknown_field)

    async def prepare(self) -> None:
        """Create the client. Raises ChatProviderError."""
        await self._client.prepare()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _tools_json(self, tools: Sequence[ToolSchema]) -> bytes:
        if self._tools[0] != tools:
            self._tools = tools, encode_body(encode_tools(tools))
        return self._tools[1]


def _unknown_field(rejection: Rejection, request: dict[str, Any]) -> str | None:
    """Return the optional field that caused the server to reject `request`, if any."""
    if not rejection.is_about_fields:
        return None
    return next((it for it in _OPTIONAL_FIELDS if it in request and it in str(rejection.message)), None)
