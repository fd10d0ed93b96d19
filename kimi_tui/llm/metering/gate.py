"""Spending gate: grants or refuses each model call, and records its cost afterwards."""

from typing import Literal, Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.llm.metering.budget import BudgetKind


@frozen(kw_only=True)
class CallRequest:
    """A request to start a model call."""

    call_id: str
    service: str
    """The model's server. All calls to one server share its rate limit."""
    estimate_usd: float
    """Upper estimate of the cost, in US dollars."""


@frozen(kw_only=True)
class GateDecision:
    """Whether a call may start."""

    verdict: Literal["granted", "wait", "refused"]
    wait_s: float = 0.0
    """Time in seconds. `granted`: start after this time. `wait`: ask again after this time."""
    kind: BudgetKind = "fleet"
    """`refused`: kind of the spent budget."""
    spent_usd: float = 0.0
    limit_usd: float = 0.0


class SpendingGate(Protocol):
    """Budgets and rate limits of this process. The methods block. They raise KimiTuiError."""

    def reserve(self, request: CallRequest) -> GateDecision:
        """Reserve the estimated cost of a call in every budget."""
        ...

    def settle(self, call_id: str, usd: float | None) -> None:
        """Replace a reservation with the actual cost. If the cost is unknown (None), the estimate counts."""
        ...

    def slow_down(self, service: str, wait_s: float) -> None:
        """Record that a server requested fewer calls and a pause of `wait_s` seconds; 0 for no pause."""
        ...

    def close(self) -> None:
        """Count open reservations as spent, and close files and connections."""
        ...
