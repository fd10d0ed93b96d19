"""Dialects of the Chat Completions API: differences between servers."""

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from kimi_tui.llm.openai.reasoning_effort import reasoning_effort
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
    """Whether the thinking of assistant messages is sent back."""
    reasoning_key: str = "reasoning_content"
    """Message field for thinking."""
    ids: ToolCallIdRule = field(default_factory=ToolCallIdRule)

    def thinking_fields(
        self, model: str, effort: ThinkingEffort, capabilities: frozenset[str]
    ) -> dict[str, Any]:
        """Return the request fields for thinking with `effort`; empty if `model` can't think."""
        value = reasoning_effort(model, effort) if capabilities & {"thinking", "always_thinking"} else None
        return {} if value is None else {"reasoning_effort": value}


COMPATIBLE = ChatDialect()
"""Servers with an OpenAI-compatible API: Ollama, vLLM, LM Studio, llama.cpp and many more."""

OPENAI = ChatDialect(
    output_limit_field="max_completion_tokens",
    has_cache_key=True,
    ids=ToolCallIdRule(max_length=40),
)
"""OpenAI itself: api.openai.com and Azure."""

DEEPSEEK = ChatDialect(replays_thinking=True)
"""DeepSeek. Its thinking models require that thinking is sent back during tool use."""


def openai_dialect(base_url: str, model: str, *, reasoning_key: str | None = None) -> ChatDialect:
    """Return the dialect of a server at `base_url` with a provider of kind `openai`.

    `reasoning_key` is the configured field for thinking. If set, thinking is sent back in this field. If
    empty, thinking is never sent back.
    """
    known = _known_dialect(base_url, model)
    if reasoning_key is None:
        return known
    if not reasoning_key:
        return replace(known, replays_thinking=False)
    return replace(known, replays_thinking=True, reasoning_key=reasoning_key)


def _known_dialect(base_url: str, model: str) -> ChatDialect:
    host = urlsplit(base_url).hostname or ""
    if host == "api.openai.com" or host.endswith((".openai.com", ".openai.azure.com")):
        return OPENAI
    if "deepseek" in host or "deepseek" in model.lower():
        return DEEPSEEK
    return COMPATIBLE
