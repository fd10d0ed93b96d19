"""Chat completions, through OpenAI's SDK: OpenAI itself, Kimi, and every server that offers the same API."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from kimi_tui.base.message import Message
from kimi_tui.llm.answer_stream import answer_parts
from kimi_tui.llm.capabilities import capabilities_of
from kimi_tui.llm.certificates import tls_for
from kimi_tui.llm.chat_dialect import ChatDialect, openai_dialect
from kimi_tui.llm.chat_request import ChatMessages, ChatWay, chat_tools
from kimi_tui.llm.chat_stream import ChatStream
from kimi_tui.llm.context_limit import is_context_limit
from kimi_tui.llm.endpoint import Endpoint
from kimi_tui.llm.failures import connection_failure, transport_errors
from kimi_tui.llm.lean_import import import_lean
from kimi_tui.llm.provider import ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.request_body import encoded, encoded_with
from kimi_tui.llm.sdk_client import SdkClient
from kimi_tui.llm.sent_chats import SentChats
from kimi_tui.llm.statuses import ServerWords, server_words, status_failure

if TYPE_CHECKING:
    import httpx2
    import openai

_OPTIONAL_FIELDS = ("stream_options", "reasoning_effort", "prompt_cache_key", "thinking")
"""Fields that a server may not know and that an answer can do without."""


class OpenAIChatProvider:
    """A model behind chat completions. The first request imports the SDK.

    Raises ConfigError for a base URL, key or header that can't be used.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        dialect: ChatDialect | None = None,
        *,
        effort: ThinkingEffort | None = None,
        service: "ChatService | None" = None,
    ) -> None:
        self._settings = settings
        self._service = service or ChatService(settings)
        self._dialect = dialect or openai_dialect(self._service.endpoint.base_url, settings.model)
        self._effort = effort

    @property
    def model_name(self) -> str:
        """The model's name as its server knows it."""
        return self._settings.model

    def with_thinking(self, effort: ThinkingEffort) -> "OpenAIChatProvider":
        """The same provider, over the same connections, with another effort."""
        return OpenAIChatProvider(self._settings, self._dialect, effort=effort, service=self._service)

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the model's answer; see `ChatProvider.generate`."""
        sent = await self._service.sent.messages(self._way(system_prompt), history)
        response = await self._service.ask(self._fields(), tools, sent.json)
        endpoint = self._service.endpoint
        async with aclosing(answer_parts(response, ChatStream(endpoint), endpoint)) as parts:
            async for part in parts:
                yield part

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Import the SDK and make the JSON of `history`, so that the first answer comes sooner."""
        await self._service.prepare()
        await self._service.sent.prepare(self._way(system_prompt), history)

    async def aclose(self) -> None:
        """Close the connections of this provider and of those that `with_thinking` made of it."""
        await self._service.aclose()

    def _way(self, system_prompt: str) -> ChatWay:
        return ChatWay(system_prompt, self._dialect, self._effort)

    def _fields(self) -> dict[str, Any]:
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
        if self._effort is not None:
            fields |= dialect.thinking_fields(settings.model, self._effort, capabilities_of(settings))
        return fields


class ChatService:
    """A server, the connections to it, and what it turned out not to know.

    A request that is refused over an optional field is sent once more without it, and no later one has it.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self.endpoint = Endpoint.of(settings)
        self._settings = settings
        self._client: SdkClient[openai.AsyncOpenAI] = SdkClient(self._new_client, self.endpoint)
        self._answered = False
        self._unknown_fields: set[str] = set()
        self._tools: tuple[Sequence[ToolSchema], bytes] = ((), b"[]")
        """Those that were sent last, and their JSON."""
        self.sent = SentChats(ChatMessages)

    async def ask(
        self, fields: dict[str, Any], tools: Sequence[ToolSchema], messages: bytes
    ) -> "httpx2.Response":
        """The response to a request of `fields`, `tools` and the JSON of `messages`, its body unread.

        Raises ChatProviderError.
        """
        client = await self._client.get()

        import openai

        made = {"tools": self._tools_json(tools)} if tools else {}
        unreachable: tuple[type[Exception], ...] = (openai.APIConnectionError, *transport_errors())
        while True:
            asked = {name: value for name, value in fields.items() if name not in self._unknown_fields}
            try:
                response = await self._post(client, encoded_with(asked, **made, messages=messages))
            except openai.APIStatusError as error:
                self._answered = True
                words = server_words(error.response.text)
                status, headers = error.status_code, error.response.headers
            except unreachable as error:
                raise connection_failure(error, self.endpoint, answered=self._answered) from error
            else:
                self._answered = True
                return response
            unknown = _unknown_field(status, words, asked)
            if unknown is None:
                # Raised outside of the except block: the SDK's error may repeat a key that the server echoed.
                raise status_failure(self.endpoint, status, words, headers)
            self._unknown_fields.add(unknown)

    async def prepare(self) -> None:
        """Make the client. Raises ChatProviderError."""
        await self._client.get()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _tools_json(self, tools: Sequence[ToolSchema]) -> bytes:
        if self._tools[0] != tools:
            self._tools = tools, encoded(chat_tools(tools))
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

    def _new_client(self) -> "openai.AsyncOpenAI":
        import_lean("openai")

        import httpx2
        import openai

        idle, connect = self._settings.idle_timeout_s, self._settings.connect_timeout_s
        return openai.AsyncOpenAI(
            api_key=self.endpoint.api_key or "none",
            base_url=self.endpoint.base_url,
            default_headers=self.endpoint.headers,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                timeout=httpx2.Timeout(idle, connect=connect), verify=tls_for(self.endpoint.base_url)
            ),
        )


def _unknown_field(status: int, words: ServerWords, request: dict[str, Any]) -> str | None:
    """The optional field of `request` over which a server refused it."""
    if status not in {400, 422} or is_context_limit(str(words)):
        return None
    return next((name for name in _OPTIONAL_FIELDS if name in request and name in str(words)), None)
