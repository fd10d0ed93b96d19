"""Dialects of chat completions: what servers that speak nearly the same want said differently."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from kimi_tui.llm.call_ids import IdRule
from kimi_tui.llm.provider import ThinkingEffort

ThinkingFields = Callable[[str, ThinkingEffort, frozenset[str]], dict[str, Any]]
"""The request fields with which a model of some capabilities thinks with an effort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDialect:
    """How one family of servers wants its requests."""

    thinking_fields: ThinkingFields
    output_limit_field: str = "max_tokens"
    default_output_limit: int | None = None
    has_cache_key: bool = False
    """Whether `prompt_cache_key` is known."""
    replays_thinking: bool = False
    """Whether what an assistant message thought goes back as `reasoning_content`."""
    ids: IdRule = field(default_factory=IdRule)


def _reasoning_effort(model: str, effort: ThinkingEffort, capabilities: frozenset[str]) -> dict[str, Any]:
    if effort == "off" or not capabilities & {"thinking", "always_thinking"}:
        return {}
    return {"reasoning_effort": effort}


COMPATIBLE = ChatDialect(thinking_fields=_reasoning_effort)
"""Servers that offer OpenAI's API: Ollama, vLLM, LM Studio, llama.cpp and many more."""

OPENAI = ChatDialect(
    thinking_fields=_reasoning_effort,
    output_limit_field="max_completion_tokens",
    has_cache_key=True,
    ids=IdRule(longest=40),
)
"""OpenAI itself: api.openai.com and Azure."""

DEEPSEEK = ChatDialect(thinking_fields=_reasoning_effort, replays_thinking=True)
"""DeepSeek, whose thinking models want what they thought back while they use tools."""


def openai_dialect(base_url: str, model: str) -> ChatDialect:
    """The dialect of the server at `base_url`, whose provider is of kind `openai`."""
    host = urlsplit(base_url).hostname or ""
    if host == "api.openai.com" or host.endswith((".openai.com", ".openai.azure.com")):
        return OPENAI
    if "deepseek" in host or "deepseek" in model.lower():
        return DEEPSEEK
    return COMPATIBLE
