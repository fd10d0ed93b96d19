"""Chat Completions dialect of Moonshot's Kimi models.

According to the platform's documentation, every model thinks unless the field `thinking` disables thinking.
kimi-k3 takes a `reasoning_effort` of low, high or max instead. kimi-k3, kimi-k2.7 and models with `thinking`
in their names can't stop thinking. Models ignore unknown fields.
"""

import re
from typing import Any

from kimi_tui.llm.openai.dialect import ChatDialect
from kimi_tui.llm.provider import ThinkingEffort

_EFFORT_MODELS = re.compile(r"kimi-k([3-9]|\d\d)")
_ALWAYS_THINKS = re.compile(r"kimi-k2\.[7-9]|thinking")
_EFFORTS: dict[ThinkingEffort, str] = {"off": "low", "low": "low", "medium": "high", "high": "max"}


def kimi_levels(model: str) -> tuple[ThinkingEffort, ...]:
    """Return the thinking levels of `model`, which must be a model that can think."""
    if _EFFORT_MODELS.search(model):
        return ("low", "medium", "high")
    return ("high",) if _ALWAYS_THINKS.search(model) else ("off", "high")


class KimiDialect(ChatDialect):
    """Request format of Moonshot's platform."""

    __slots__ = ()

    def thinking_fields(
        self, model: str, effort: ThinkingEffort, capabilities: frozenset[str]
    ) -> dict[str, Any]:
        """Return the request fields for thinking with `effort`.

        `off` selects the least thinking that `model` supports.
        """
        if _EFFORT_MODELS.search(model):
            return {"reasoning_effort": _EFFORTS[effort]}
        can_stop = "always_thinking" not in capabilities and not _ALWAYS_THINKS.search(model)
        return {"thinking": {"type": "disabled" if effort == "off" and can_stop else "enabled"}}


KIMI = KimiDialect(
    default_output_limit=32_000,
    has_cache_key=True,
    replays_thinking=True,
)
"""Moonshot's platform. By default, its models stop after a few thousand tokens, so an output limit is set."""
