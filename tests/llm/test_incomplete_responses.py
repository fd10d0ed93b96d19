"""Responses that the server ended early: what they cost, and whether they are cut off."""

from typing import Any

import pytest

from kimi_tui.base.errors import ChatProviderError
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.provider import OutputLimitReached, StreamPart
from tests.llm.conversations import HELLO, provider_for
from tests.llm.servers import AnthropicServer, OpenAIServer, ResponsesServer, ScriptedResponse

APIS = [
    pytest.param("openai", OpenAIServer, "length", "content_filter", id="chat completions"),
    pytest.param("openai_responses", ResponsesServer, "max_output_tokens", "content_filter", id="responses"),
    pytest.param("anthropic", AnthropicServer, "max_tokens", "refusal", id="messages"),
]
USAGE = TokenUsage(input_other=60, output=20, input_cache_read=40)


async def parts_of(
    kind: Any, server_type: Any, response: ScriptedResponse
) -> tuple[list[StreamPart], ChatProviderError | None]:
    """Return the parts of a response, and the error that follows them."""
    parts: list[StreamPart] = []
    async with server_type([response]) as server:
        provider = provider_for(kind, server.base_url)
        try:
            async for part in provider.generate("", (), HELLO):
                parts.append(part)
        except ChatProviderError as error:
            return parts, error
        finally:
            await provider.aclose()
    return parts, None


@pytest.mark.parametrize(("kind", "server_type", "limit", "refusal"), APIS)
async def test_a_declined_or_empty_response_reports_its_usage(kind, server_type, limit, refusal):
    for response in (ScriptedResponse(text="Half a", stop=refusal), ScriptedResponse(text="", stop=limit)):
        parts, error = await parts_of(kind, server_type, response)
        assert error is not None
        assert not error.retryable
        assert [part for part in parts if isinstance(part, TokenUsage)][-1] == USAGE


@pytest.mark.parametrize(("kind", "server_type", "limit", "refusal"), APIS)
async def test_a_response_at_the_output_limit_says_so(kind, server_type, limit, refusal):
    parts, error = await parts_of(kind, server_type, ScriptedResponse(text="Half a", stop=limit))
    assert error is None
    assert OutputLimitReached() in parts
    parts, error = await parts_of(kind, server_type, ScriptedResponse(text="All."))
    assert error is None
    assert OutputLimitReached() not in parts
