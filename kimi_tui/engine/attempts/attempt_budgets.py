"""Budgets of attempts: per group that starts together, per day, and per fleet."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from kimi_tui.base.paths import make_private_dir
from kimi_tui.config.settings import BudgetSettings
from kimi_tui.engine.models.spending_gate import day_budgets
from kimi_tui.llm.metering.budget import Budget, environment_gate
from kimi_tui.llm.metering.budget_service import BudgetService
from kimi_tui.llm.metering.ledger import SpendingLedger


class AttemptBudgets:
    """Serves the budgets of attempts that start together to their processes. Implements `BudgetSource`.

    The processes can't write to the ledgers.
    """

    def __init__(
        self, ledger: Path, settings: BudgetSettings, *, data_dir: Path, key: str, max_cost_usd: float | None
    ) -> None:
        self._ledger = ledger
        self._key = key
        self._max_cost_usd = max_cost_usd
        inherited = environment_gate()
        self._outer = inherited if inherited is not None and inherited.address else None
        """Gate to the budget service of a fleet on another machine. That service has all budgets."""
        self._shared = inherited.budgets if inherited is not None else day_budgets(settings, data_dir)
        self._service = BudgetService(self)

    def start(self) -> None:
        """Serve the budgets. Blocks. Raises OSError."""
        make_private_dir(self._ledger.parent)
        self._service.start()

    def gate_of(self, attempt: int) -> str:
        """Return the value of `GATE_VARIABLE` for an attempt."""
        gate = self._outer if self._outer is not None else self._service.gate_of(str(attempt))
        return gate.to_text()

    def budgets_of_id(self, task: str) -> Sequence[Budget]:
        """Implement `BudgetSource.budgets_of_id`."""
        total = Budget(ledger=str(self._ledger), kind="attempts", key=self._key, limit_usd=self._max_cost_usd)
        return total, self._own_budget(task), *self._shared

    def spent_usd(self, attempt: int) -> float:
        """Return the cost of an attempt so far, in USD. Blocks. Raises KimiTuiError."""
        with closing(SpendingLedger(self._ledger)) as ledger:
            return ledger.spent_usd(self._own_budget(str(attempt)))

    def close(self) -> None:
        """Stop serving. Blocks."""
        self._service.close()

    def _own_budget(self, task: str) -> Budget:
        return Budget(ledger=str(self._ledger), kind="task", key=f"{self._key} {task}")
