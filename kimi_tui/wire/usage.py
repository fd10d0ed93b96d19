"""Token usage and cost of a session by model."""

from kimi_tui.base.frozen import frozen
from kimi_tui.base.token_usage import TokenUsage


@frozen
class ModelUsage:
    """Tokens and cost of one model's calls."""

    model: str
    """Name under `[models]`."""
    usage: TokenUsage
    cost_usd: float | None = None
    """US dollars; None if the model has no price."""


@frozen
class UsageReport:
    """Reply to `/cost`. Not in kimi-cli."""

    models: tuple[ModelUsage, ...]
    """In the order of each model's first call. Calls from before usage was counted by model are only in the
    totals.
    """
    usage: TokenUsage
    """Usage of all calls in all runs of the session."""
    cost_usd: float | None = None
    """Cost of all calls in US dollars; None until a model with a price was used."""
