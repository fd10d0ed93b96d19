"""Claude's models: how each generation is told to think, and how much it may write.

After Anthropic's documentation of thinking: up to 4.5 a budget of tokens, from 4.6 on adaptive thinking with
an effort; up to 4.8 a model thinks when it is asked to, from 5 on unless it is told otherwise, and several
can't stop.
"""

import re
from dataclasses import dataclass
from typing import Any

from kimi_tui.llm.provider import ThinkingEffort

_NAME = re.compile(r"claude-(?:(?P<family>[a-z]+)-)?(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2})(?!\d))?")
_BUDGETS: dict[ThinkingEffort, int] = {"low": 4_096, "medium": 12_288, "high": 24_576}
_SMALLEST_BUDGET = 1_024
_ADAPTIVE_SINCE = (4, 6)
_THINKS_UNASKED_SINCE = (5, 0)
_CAN_BE_SILENCED = {("opus", (5, 0)), ("sonnet", (5, 0)), ("haiku", (5, 5))}
_THINKS_BETWEEN_TOOLS = {("sonnet", (5, 5))}


@dataclass(frozen=True, slots=True)
class ClaudeModel:
    """A model as its name tells; `version` is (0, 0) for models that aren't Claude's but speak its
    protocol."""

    family: str
    version: tuple[int, int]

    @classmethod
    def of(cls, name: str) -> "ClaudeModel":
        """The model that `name` means, with or without a prefix or a date."""
        found = _NAME.search(name.lower())
        if found is None:
            return cls("", (0, 0))
        return cls(found["family"] or "", (int(found["major"]), int(found["minor"] or 0)))

    @property
    def is_adaptive(self) -> bool:
        """Whether it takes an effort, and no budget."""
        return self.version >= _ADAPTIVE_SINCE

    @property
    def default_output_limit(self) -> int:
        """Tokens that an answer may have when nobody says: room for a long file, and taken by the model."""
        match self.version:
            case (3, minor) if minor < 5:
                return 4_096
            case (3, 5 | 6):
                return 8_192
            case _:
                return 64_000 if self.is_adaptive else 32_000

    def thinking_fields(
        self, effort: ThinkingEffort | None, output_limit: int, capabilities: frozenset[str]
    ) -> dict[str, Any]:
        """The request fields with which it thinks with `effort`; none leaves it at the model's default."""
        if effort is None or not capabilities & {"thinking", "always_thinking"}:
            return {}
        if effort == "off":
            return self._silence()
        if self.is_adaptive:
            return {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": effort},
            }
        budget = min(_BUDGETS[effort], output_limit // 2)
        if budget < _SMALLEST_BUDGET:
            return {}
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}

    def _silence(self) -> dict[str, Any]:
        if self.version < _THINKS_UNASKED_SINCE:
            return {}
        known = (self.family, self.version)
        if known in _CAN_BE_SILENCED:
            return {"thinking": {"type": "disabled"}}
        if known in _THINKS_BETWEEN_TOOLS:
            return {"thinking": {"type": "between_tools"}}
        return {"output_config": {"effort": "low"}}
