"""Moonshot's Kimi: its dialect of chat completions.

After the platform's documentation: every model thinks unless told otherwise by `thinking`; kimi-k3 takes a
`reasoning_effort` of low, high or max instead, and, like kimi-k2.7 and the models named `thinking`, can't
stop thinking. Fields that a model doesn't know are ignored.
"""

import re
from typing import Any

from kimi_tui.llm.chat_dialect import ChatDialect
from kimi_tui.llm.provider import ThinkingEffort

_GRADED = re.compile(r"kimi-k([3-9]|\d\d)")
_ALWAYS_THINKS = re.compile(r"kimi-k2\.[7-9]|thinking")
_GRADES: dict[ThinkingEffort, str] = {"off": "low", "low": "low", "medium": "high", "high": "max"}


def kimi_thinking(model: str, effort: ThinkingEffort, capabilities: frozenset[str]) -> dict[str, Any]:
    """The fields with which `model` thinks with `effort`; the least thinking it can do for `off`."""
    if _GRADED.search(model):
        return {"reasoning_effort": _GRADES[effort]}
    can_stop = "always_thinking" not in capabilities and not _ALWAYS_THINKS.search(model)
    return {"thinking": {"type": "disabled" if effort == "off" and can_stop else "enabled"}}


KIMI = ChatDialect(
    thinking_fields=kimi_thinking,
    default_output_limit=32_000,
    has_cache_key=True,
    replays_thinking=True,
)
"""Moonshot's platform. Without an output limit of ours its models stop after a few thousand tokens."""
