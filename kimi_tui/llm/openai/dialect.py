"""Dialects of the Chat Completions API: differences between servers."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from kimi_tui.llm.provider import ThinkingEffort
from kimi_tui.llm.tool_call_ids import ToolCallIdRule


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDialect:
    """Request format of one family of servers."""

    output_limit_field: str = "max_tokens"
    default_output_limit: int | None = None
    has_cache_key: bool = False
    """Whether the server supports `prompt_cache_key`."""
    replays_thinking: bool = False
    """Whether the thinking of assistant messages is sent back as `reasoning_content`."""
    ids: ToolCallIdRule = field(default_factory=ToolCallIdRule)

    def thinking_fields(
        self, model: str, effort: ThinkingEffort, capabilities: frozenset[str]
    ) -> dict[str, Any]:
        """Return the request fields for thinking with `effort`; empty if `model` can't think."""
        if effort == "off" or not capabilities & {"thinking", "always_thinking"}:
            return {}
        return {"reasoning_effort": effort}


COMPATIBLE = ChatDialect()
"""Servers with an OpenAI-compatible API: Ollama, vLLM, LM Studio, llama.cpp and many more."""

OPENAI = ChatDialect(
    output_limit_field="max_completion_tokens",
    has_cache_key=True,
    ids=ToolCallIdRule(max_length=40),
)
"""OpenAI itself: api.openai.com and Azure."""

DEEPSEEK = ChatDialect(replays_thinking=True)
"""DeepSeek: its thinking models require their thinking back while they use tools."""


def openai_dialect(base_url: str, model: str) -> ChatDialect:
    """Return the dialect of a server at `base_url` with a provider of kind `openai`."""
    host = urlsplit(base_url).hostname or ""
    if host == "api.openai.com" or host.endswith((".openai.com", ".openai.azure.com")):
        return OPENAI
    if "deepseek" in host or "deepseek" in model.lower():
        return DEEPSEEK
    return COMPATIBLE
