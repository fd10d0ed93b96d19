"""What attempts cost, and the budgets that limit it."""

from typing import Protocol


class AttemptSpending(Protocol):
    """The budgets of attempts that start together."""

    def gate_of(self, attempt: int) -> str:
        """Return the value of `GATE_VARIABLE` for an attempt."""
        ...

    def spent_usd(self, attempt: int) -> float:
        """Return what an attempt has cost so far. Blocks. Raises KimiTuiError."""
        ...
