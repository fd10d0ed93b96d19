"""Anthropic's messages API, through its SDK: Claude, and every server that offers the same API."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from kimi_tui.base.message import Message
from kimi_tui.llm.answer_stream import answer_parts
from kimi_tui.llm.capabilities import capabilities_of
from kimi_tui.llm.certificates import tls_for
from kimi_tui.llm.claude_models import ClaudeModel
from kimi_tui.llm.endpoint import Endpoint
from kimi_tui.llm.failures import connection_failure, transport_errors
from kimi_tui.llm.lean_import import import_lean
from kimi_tui.llm.messages_request import (
    TurnMessages,
    begins_last_answer_with_thought,
    signatures,
    tools_and_system,
)
from kimi_tui.llm.messages_stream import MessagesStream
from kimi_tui.llm.provider import ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.request_body import encoded_with
from kimi_tui.llm.sdk_client import SdkClient
from kimi_tui.llm.sent_chats import Sent, SentChats
from kimi_tui.llm.statuses import ServerWords, server_words, status_failure

if TYPE_CHECKING:
    import anthropic
    import httpx2

_THOUGHT_REFUSED = re.compile(r"thinking.{0,80}(?:block|signature)|signature.{0,40}thinking", re.IGNORECASE)


class AnthropicMessagesProvider:
    """A model behind the messages API. The first request imports the SDK.

    Raises ConfigError for a base URL, key or header that can't be used.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        effort: ThinkingEffort | None = None,
        service: "MessagesService | None" = None,
    ) -> None:
        self._settings = settings
        self._service = service or MessagesService(settings)
        self._effort = effort

    @property
    def model_name(self) -> str:
        """The model's name as its server knows it."""
        return self._settings.model

    def with_thinking(self, effort: ThinkingEffort) -> "AnthropicMessagesProvider":
        """The same provider, over the same connections, with another effort."""
        return AnthropicMessagesProvider(self._settings, effort=effort, service=self._service)

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the model's answer; see `ChatProvider.generate`."""
        fields = self._fields(system_prompt, tools)
        response = await self._service.ask(fields, history)
        endpoint = self._service.endpoint
        async with aclosing(answer_parts(response, MessagesStream(endpoint), endpoint)) as parts:
            async for part in parts:
                yield part

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Import the SDK and make the JSON of `history`, so that the first answer comes sooner."""
        await self._service.prepare(history)

    async def aclose(self) -> None:
        """Close the connections of this provider and of those that `with_thinking` made of it."""
        await self._service.aclose()

    def _fields(self, system_prompt: str, tools: Sequence[ToolSchema]) -> dict[str, Any]:
        model = ClaudeModel.of(self._settings.model)
        limit = self._settings.max_output_tokens or model.default_output_limit
        return {
            "model": self._settings.model,
            "max_tokens": limit,
            "stream": True,
            **model.thinking_fields(self._effort, limit, capabilities_of(self._settings)),
            **tools_and_system(system_prompt, tools),
        }


class MessagesService:
    """A server, the connections to it, and the thinking that it refused to take back.

    A signature is bound to the model, the account and the conversation that it comes from: it may be refused
    after a change of model or a compaction. Such a request is sent once more without the thinking, and no
    later one has it.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self.endpoint = Endpoint.of(settings)
        self._settings = settings
        self._client: SdkClient[anthropic.AsyncAnthropic] = SdkClient(self._new_client, self.endpoint)
        self._answered = False
        self._refused_signatures: set[str] = set()
        self._sent = SentChats(TurnMessages)

    async def ask(self, fields: dict[str, Any], history: Sequence[Message]) -> "httpx2.Response":
        """The response to a request of `fields` and `history`, its body unread. Raises ChatProviderError."""
        client = await self._client.get()

        import anthropic

        unreachable: tuple[type[Exception], ...] = (anthropic.APIConnectionError, *transport_errors())
        while True:
            sent = await self._sent.messages(frozenset(self._refused_signatures), history)
            try:
                response = await self._post(client, _request(fields, sent))
            except anthropic.APIStatusError as error:
                self._answered = True
                words = server_words(error.response.text)
                status, headers = error.status_code, error.response.headers
            except unreachable as error:
                raise connection_failure(error, self.endpoint, answered=self._answered) from error
            else:
                self._answered = True
                return response
            refused = signatures(history) - self._refused_signatures
            if not refused or not _is_about_thinking(status, words):
                # Raised outside of the except block: the SDK's error may repeat a key that the server echoed.
                raise status_failure(self.endpoint, status, words, headers)
            self._refused_signatures |= refused

    async def prepare(self, history: Sequence[Message]) -> None:
        """Make the client, and the JSON of `history`. Raises ChatProviderError."""
        await self._client.get()
        await self._sent.prepare(frozenset(self._refused_signatures), history)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _post(self, client: "anthropic.AsyncAnthropic", request: bytes) -> "httpx2.Response":
        import anthropic
        import httpx2

        given = {name.lower() for name in self.endpoint.headers}
        headers: dict[str, str | anthropic.Omit] = {"Accept": "text/event-stream"}
        if not self.endpoint.api_key and "authorization" not in given:
            headers["Authorization"] = anthropic.Omit()
        elif not self._is_anthropic and "x-api-key" not in given:
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
        """Whether the server is Anthropic's own; others may know only the header of API versions before."""
        return self.endpoint.host.endswith("anthropic.com")

    def _new_client(self) -> "anthropic.AsyncAnthropic":
        import_lean("anthropic")

        import anthropic
        import httpx2

        idle, connect = self._settings.idle_timeout_s, self._settings.connect_timeout_s
        return anthropic.AsyncAnthropic(
            api_key=self.endpoint.api_key or "none",
            base_url=self.endpoint.base_url,
            default_headers=self.endpoint.headers,
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(
                timeout=httpx2.Timeout(idle, connect=connect), verify=tls_for(self.endpoint.base_url)
            ),
            open_telemetry=False,
        )


def _request(fields: dict[str, Any], sent: Sent) -> bytes:
    has_budget = fields.get("thinking", {}).get("type") == "enabled"
    if has_budget and sent.left and not begins_last_answer_with_thought(sent.left):
        fields = {name: it for name, it in fields.items() if name != "thinking"}
    return encoded_with(fields, messages=sent.json)


def _is_about_thinking(status: int, words: ServerWords) -> bool:
    return status == 400 and _THOUGHT_REFUSED.search(words.message) is not None
