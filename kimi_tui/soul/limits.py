"""Limits for turns and sessions."""

from kimi_tui.base.errors import LimitReached
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg


@frozen(kw_only=True)
class LoopLimits:
    """How often in a row a turn may repeat a step with the same result. 0: no limit."""

    warn_after: int = 0
    """Number of repetitions after which the model is warned."""
    stop_after: int = 0
    """Number of repetitions after which the turn is stopped."""


@frozen(kw_only=True)
class Limits:
    """Limits of a turn. None: no limit."""

    max_steps: int = 1000
    max_attempts: int = 3
    max_cost_usd: float | None = None
    loop_limits: LoopLimits = LoopLimits()

    def check_cost(self, cost_usd: float | None) -> None:
        """Raise LimitReached if `cost_usd` has reached the limit."""
        if self.max_cost_usd is not None and cost_usd is not None and cost_usd >= self.max_cost_usd:
            raise LimitReached(
                msg(
                    "Cost limit reached: ${cost:.2f} of ${limit:.2f}.", cost=cost_usd, limit=self.max_cost_usd
                ),
                hint="Raise --max-cost to continue.",
            )
