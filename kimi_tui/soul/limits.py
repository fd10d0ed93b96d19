"""Limits of what a turn and a session may take."""

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.value import value


class LimitReached(KimiTuiError):
    """A turn stopped since it would take more than it may."""


@value(kw_only=True)
class RepetitionLimits:
    """How often in a row a turn may do the same, with the same result. 0: no limit."""

    told_after: int = 0
    """From so many times on the model is told."""
    stopped_after: int = 0
    """After so many times the turn is stopped."""


@value(kw_only=True)
class Limits:
    """What a turn may take. None: no limit."""

    max_steps: int = 1000
    max_attempts: int = 3
    max_cost_usd: float | None = None
    repetition: RepetitionLimits = RepetitionLimits()

    def check_cost(self, cost_usd: float | None) -> None:
        """Raises LimitReached when `cost_usd` has reached the limit."""
        if self.max_cost_usd is not None and cost_usd is not None and cost_usd >= self.max_cost_usd:
            raise LimitReached(
                f"The session has cost ${cost_usd:.2f}, its limit is ${self.max_cost_usd:.2f}.",
                hint="Raise --max-cost to go on.",
            )
