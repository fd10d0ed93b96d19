"""Tokens and cost of a session."""

from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.provider import LLM


class UsageTotals:
    """Tokens and cost of a session. The cost is None until a model with a price is used."""

    def __init__(self, usage: TokenUsage = TokenUsage(), cost_usd: float | None = None) -> None:
        """Initialize the totals with the usage and cost of earlier runs."""
        self.usage = usage
        self.cost_usd = cost_usd

    def add(self, usage: TokenUsage, llm: LLM) -> None:
        """Add the usage of one model call."""
        self.usage += usage
        cost = llm.cost(usage)
        if cost is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost
