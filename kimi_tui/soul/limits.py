"""Limits of what a session may spend."""

from dataclasses import dataclass

from kimi_tui.base.errors import KimiTuiError


class LimitReached(KimiTuiError):
    """A turn stopped since it would spend more than it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a turn may take. None: no limit."""

    max_steps: int = 1000
    max_attempts: int = 3
    max_cost_usd: float | None = None

    def check_cost(self, cost_usd: float | None) -> None:
        """Raises LimitReached when `cost_usd` has reached the limit."""
        if self.max_cost_usd is not None and cost_usd is not None and cost_usd >= self.max_cost_usd:
            raise LimitReached(
                f"The session has cost ${cost_usd:.2f}, its limit is ${self.max_cost_usd:.2f}.",
                hint="Raise --max-cost to go on.",
            )
