"""Spending gate: grants or refuses each model call, and records its cost afterwards."""

from typing import Literal, Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.llm.metering.budget import BudgetKind


@frozen(kw_only=True)
class CallRequest:
    """A model call that wants to start."""

    call_id: str
    service: str
    """The server. Calls to one server share its rate limit."""
    estimate_usd: float
    """Upper estimate of the cost."""


@frozen(kw_only=True)
class GateDecision:
    """Whether a call may start."""

    verdict: Literal["granted", "wait", "refused"]
    wait_s: float = 0.0
    """`granted`: start after this time. `wait`: ask again after this time."""
    kind: BudgetKind = "fleet"
    """`refused`: the budget that is spent."""
    spent_usd: float = 0.0
    limit_usd: float = 0.0


class SpendingGate(Protocol):
    """Budgets and rate limits of this process. The methods block. They raise KimiTuiError."""

    def reserve(self, request: CallRequest) -> GateDecision:
        """Reserve the estimated cost of a call in every budget."""
        ...

    def settle(self, call_id: str, usd: float | None) -> None:
        """Replace a reservation by the actual cost. None: the cost is unknown, and the estimate counts."""
        ...

    def slow_down(self, service: str, wait_s: float) -> None:
        """Record that a server asked for fewer requests and, if `wait_s` isn't 0, for a pause."""
        ...

    def close(self) -> None:
        """Count open reservations as spent, and close files and connections."""
        ...
