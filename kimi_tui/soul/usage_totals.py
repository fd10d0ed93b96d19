"""Tokens and cost of a session."""

from collections.abc import Sequence
from datetime import date

from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.provider import LLM
from kimi_tui.wire.usage import ModelUsage


class UsageTotals:
    """Tokens and cost of a session. The cost is None until a model with a price is used."""

    def __init__(
        self,
        usage: TokenUsage = TokenUsage(),
        cost_usd: float | None = None,
        *,
        day: str = "",
        day_cost_usd: float = 0.0,
        models: Sequence[ModelUsage] = (),
    ) -> None:
        """Initialize the totals with the usage and cost of earlier runs."""
        self.usage = usage
        self.cost_usd = cost_usd
        self.day = day
        """Local date of the last model call with a price, in ISO format; empty before the first such call."""
        self.day_cost_usd = day_cost_usd
        """Cost on `day`, in US dollars."""
        self._models = {it.model: it for it in models}

    @property
    def models(self) -> tuple[ModelUsage, ...]:
        """Usage and cost by model, in the order of each model's first call."""
        return tuple(self._models.values())

    def add(self, usage: TokenUsage, llm: LLM) -> None:
        """Add the usage of one model call."""
        self.usage += usage
        cost = llm.cost(usage)
        earlier = self._models.get(llm.name) or ModelUsage(llm.name, TokenUsage())
        model_cost = earlier.cost_usd if cost is None else (earlier.cost_usd or 0.0) + cost
        self._models[llm.name] = ModelUsage(llm.name, earlier.usage + usage, model_cost)
        if cost is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost
            today = date.today().isoformat()  # noqa: DTZ011 (the user's day)
            self.day_cost_usd = cost + (self.day_cost_usd if self.day == today else 0.0)
            self.day = today
