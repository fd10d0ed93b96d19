"""Provider for OpenAI's Responses API.

Conversations are not stored on the server: each request contains the whole conversation, with the encrypted
reasoning of earlier responses.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from kimi_tui.base.message import Message
from kimi_tui.llm.capabilities import capabilities_of
from kimi_tui.llm.openai.client import OpenAIClient, Rejection
from kimi_tui.llm.openai.reasoning_effort import reasoning_effort
from kimi_tui.llm.openai.responses_request import ResponsesStyle, collect_reasoning, encode_responses_tools
from kimi_tui.llm.openai.responses_stream import ResponsesStream
from kimi_tui.llm.provider import ProviderSettings, StreamPart, ThinkingEffort, ToolSchema
from kimi_tui.llm.transport.json_body import encode_body, encode_body_with
from kimi_tui.llm.transport.request_cache import RequestCache
from kimi_tui.llm.transport.response_stream import StreamedResponse, response_parts

_REASONING_REJECTED = re.compile(
    r"invalid_encrypted_content|encrypted content|reasoning.{0,60}without its required", re.IGNORECASE
)
_OPTIONAL_FIELDS = (
    ("include", re.compile(r"\binclude\b|encrypted_content", re.IGNORECASE)),
    ("reasoning.summary", re.compile(r"reasoning[ .]summar", re.IGNORECASE)),
    ("reasoning", re.compile(r"reasoning", re.IGNORECASE)),
    ("prompt_cache_key", re.compile(r"prompt_cache_key")),
    ("store", re.compile(r"\bstore\b")),
)
"""Optional fields that a server may reject, with patterns for the corresponding error messages."""


class ResponsesProvider:
    """A model behind the Responses API. The first request imports the HTTP client.

    Raises ConfigError for an invalid base URL, key or header.
    """

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        effort: ThinkingEffort | None = None,
        connection: "ResponsesConnection | None" = None,
    ) -> None:
        self._settings = settings
        self._connection = connection or ResponsesConnection(settings)
        self._effort = effort

    @property
    def model_name(self) -> str:
        """The model's name on its server."""
        return self._settings.model

    def with_thinking(self, effort: ThinkingEffort) -> "ResponsesProvider":
        """Return a provider with another effort that shares this provider's connections."""
        return ResponsesProvider(self._settings, effort=effort, connection=self._connection)

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        """Stream the model's response; see `ChatProvider.generate`."""
        response = await self._connection.send(self._request_fields(system_prompt), tools, history)
        endpoint = self._connection.endpoint
        async with aclosing(response_parts(response, ResponsesStream(endpoint), endpoint)) as parts:
            async for part in parts:
                yield part

    async def prepare(self, system_prompt: str, history: Sequence[Message]) -> None:
        """Import the HTTP client and encode `history`, so that the first response arrives sooner."""
        await self._connection.prepare(history)

    async def aclose(self) -> None:
        """Close the connections of this provider and of its copies from `with_thinking`."""
        await self._connection.aclose()

    def _request_fields(self, system_prompt: str) -> dict[str, Any]:
        settings = self._settings
        optional = {
            "instructions": system_prompt or None,
            "max_output_tokens": settings.max_output_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "prompt_cache_key": settings.session_id,
        }
        return {
            "model": settings.model,
            "stream": True,
            "store": False,
            **{name: value for name, value in optional.items() if value is not None},
            **self._reasoning_fields(),
        }

    def _reasoning_fields(self) -> dict[str, Any]:
        """Return the fields for reasoning; empty if the model can't think."""
        if not capabilities_of(self._settings) & {"thinking", "always_thinking"}:
            return {}
        fields: dict[str, Any] = {"include": ["reasoning.encrypted_content"]}
        if self._effort is None:
            return {**fields, "reasoning": {"summary": "auto"}}
        effort = reasoning_effort(self._settings.model, self._effort)
        if effort is None:
            return fields
        summary = {} if self._effort == "off" else {"summary": "auto"}
        return {**fields, "reasoning": {"effort": effort, **summary}}


class ResponsesConnection:
    """Connections to a server, and the optional fields and reasoning items that it rejected.

    Encrypted reasoning is tied to an account and a model, so the server may reject it after a change. Then
    the request is repeated without the rejected reasoning, and later requests also omit this reasoning.
    """

    def __init__(self, settings: ProviderSettings) -> None:
        self._client = OpenAIClient(settings)
        self.endpoint = self._client.endpoint
        self._unknown_fields: set[str] = set()
        self._style = ResponsesStyle()
        self._request_cache = RequestCache[ResponsesStyle]()
        self._tools: tuple[Sequence[ToolSchema], bytes] = ((), b"[]")
        """The tools of the last request and their JSON."""

    async def send(
        self, fields: dict[str, Any], tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> StreamedResponse:
        """Send a request. Return the response before its body is read.

        Raises ChatProviderError.
        """
        await self._client.prepare()
        encoded_tools = {"tools": self._tools_json(tools)} if tools else {}
        while True:
            request = _without_fields(fields, self._unknown_fields)
            items = await self._request_cache.build_request(self._style, history)
            body = encode_body_with(request, **encoded_tools, input=items.json)
            response = await self._client.post("/responses", body)
            if not isinstance(response, Rejection):
                return response
            if not self._adapt(response, request, history):
                raise response.to_error(self.endpoint)

    async def prepare(self, history: Sequence[Message]) -> None:
        """Create the client and encode `history`. Raises ChatProviderError."""
        await self._client.prepare()
        await self._request_cache.prepare(self._style, history)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _adapt(self, rejection: Rejection, request: dict[str, Any], history: Sequence[Message]) -> bool:
        """Omit the rejected field or reasoning from further requests. Return whether there was one."""
        if not rejection.is_about_fields:
            return False
        text = str(rejection.message)
        rejected = collect_reasoning(history) - self._style.rejected_reasoning
        if rejected and _REASONING_REJECTED.search(text):
            self._style = ResponsesStyle(self._style.rejected_reasoning | rejected)
            return True
        for name, sign in _OPTIONAL_FIELDS:
            if _has_field(request, name) and sign.search(text):
                self._unknown_fields.add(name)
                return True
        return False

    def _tools_json(self, tools: Sequence[ToolSchema]) -> bytes:
        if self._tools[0] != tools:
            self._tools = tools, encode_body(encode_responses_tools(tools))
        return self._tools[1]


def _has_field(request: dict[str, Any], name: str) -> bool:
    parent, _, child = name.partition(".")
    return parent in request and (not child or child in request[parent])


def _without_fields(request: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return `request` without the fields `names`. A name can be nested, as in `reasoning.summary`."""
    result = dict(request)
    for name in names:
        parent, _, child = name.partition(".")
        if parent in result and child:
            result[parent] = {key: value for key, value in result[parent].items() if key != child}
        else:
            result.pop(parent, None)
    return {name: value for name, value in result.items() if value != {}}
