"""What the session has used so far."""

from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm.provider import LLM


class Spending:
    """Tokens and money of a session. The cost is None as long as no model with a price was used."""

    def __init__(self, usage: TokenUsage = TokenUsage(), cost_usd: float | None = None) -> None:
        """`usage` and `cost_usd` are those of earlier runs."""
        self.usage = usage
        self.cost_usd = cost_usd

    def add(self, usage: TokenUsage, llm: LLM) -> None:
        """Count one model call."""
        self.usage += usage
        cost = llm.cost(usage)
        if cost is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost
