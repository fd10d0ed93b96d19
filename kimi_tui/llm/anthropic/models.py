"""Claude models: thinking parameters and output limits of each generation.

Source: Anthropic's documentation on extended thinking. Models up to 4.5 take a token budget. Models from 4.6
use adaptive thinking with an effort. Models up to 4.8 think on request. Models from 5 think by default, and
some can't stop thinking.
"""

import re
from dataclasses import dataclass
from typing import Any

from kimi_tui.base.thinking_effort import THINKING_EFFORTS, ThinkingEffort

_NAME = re.compile(r"claude-(?:(?P<family>[a-z]+)-)?(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2})(?!\d))?")
_BUDGETS: dict[ThinkingEffort, int] = {"low": 4_096, "medium": 12_288, "high": 24_576}
_SMALLEST_BUDGET = 1_024
_ADAPTIVE_SINCE = (4, 6)
_THINKS_BY_DEFAULT_SINCE = (5, 0)
_CAN_DISABLE_THINKING = {("opus", (5, 0)), ("sonnet", (5, 0)), ("haiku", (5, 5))}
_THINKS_BETWEEN_TOOLS = {("sonnet", (5, 5))}


@dataclass(frozen=True, slots=True)
class ClaudeModel:
    """A model's family and version, parsed from its name.

    `version` is (0, 0) for other models with Claude's API.
    """

    family: str
    version: tuple[int, int]

    @classmethod
    def from_name(cls, name: str) -> "ClaudeModel":
        """Parse `name`, with or without a prefix or a date."""
        match = _NAME.search(name.lower())
        if match is None:
            return cls("", (0, 0))
        return cls(match["family"] or "", (int(match["major"]), int(match["minor"] or 0)))

    @property
    def is_adaptive(self) -> bool:
        """Whether the model takes an effort instead of a budget."""
        return self.version >= _ADAPTIVE_SINCE

    @property
    def default_output_limit(self) -> int:
        """Default output limit in tokens: enough for a long file, and accepted by the model."""
        match self.version:
            case (3, minor) if minor < 5:
                return 4_096
            case (3, 5 | 6):
                return 8_192
            case _:
                return 64_000 if self.is_adaptive else 32_000

    @property
    def thinking_levels(self) -> tuple[ThinkingEffort, ...]:
        """Thinking levels of a model that can think.

        Includes `off` if the model thinks less with `off` than with `low`.
        """
        model = (self.family, self.version)
        can_stop = (
            self.version < _THINKS_BY_DEFAULT_SINCE or model in _CAN_DISABLE_THINKING | _THINKS_BETWEEN_TOOLS
        )
        return THINKING_EFFORTS if can_stop else THINKING_EFFORTS[1:]

    def thinking_fields(
        self, effort: ThinkingEffort | None, output_limit: int, capabilities: frozenset[str]
    ) -> dict[str, Any]:
        """Return the request fields for thinking with `effort`; empty to use the model's default."""
        if effort is None or not capabilities & {"thinking", "always_thinking"}:
            return {}
        if effort == "off":
            return self._disabled_thinking_fields()
        if self.is_adaptive:
            return {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": effort},
            }
        budget = min(_BUDGETS[effort], output_limit // 2)
        if budget < _SMALLEST_BUDGET:
            return {}
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}

    def _disabled_thinking_fields(self) -> dict[str, Any]:
        if self.version < _THINKS_BY_DEFAULT_SINCE:
            return {}
        model = (self.family, self.version)
        if model in _CAN_DISABLE_THINKING:
            return {"thinking": {"type": "disabled"}}
        if model in _THINKS_BETWEEN_TOOLS:
            return {"thinking": {"type": "between_tools"}}
        return {"output_config": {"effort": "low"}}
