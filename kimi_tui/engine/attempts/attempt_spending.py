"""Protocol for the costs and budgets of attempts."""

from typing import Protocol


class AttemptSpending(Protocol):
    """The budgets of attempts that start together."""

    def gate_of(self, attempt: int) -> str:
        """Return the value of `GATE_VARIABLE` for an attempt."""
        ...

    def spent_usd(self, attempt: int) -> float:
        """Return the cost of an attempt so far, in USD. Blocks. Raises KimiTuiError."""
        ...
