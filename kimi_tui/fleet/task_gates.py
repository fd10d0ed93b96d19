"""Gates of a run's tasks: ledgers in files for runs on this machine, a service for runs on others."""

from collections.abc import Sequence

from kimi_tui.fleet.fleet_task import FleetTask
from kimi_tui.fleet.run_budgets import RunBudgets
from kimi_tui.llm.metering.budget import Budget, EnvironmentGate
from kimi_tui.llm.metering.budget_service import BudgetService


class TaskGates:
    """Gives each task access to its budgets."""

    def __init__(self, budgets: RunBudgets, tasks: Sequence[FleetTask], ray_target: str = "") -> None:
        """`ray_target`: the cluster whose nodes need a service; empty for runs on this machine."""
        self._budgets = budgets
        self._tasks = {task.id: task for task in tasks}
        self._service: BudgetService | None = None
        if ray_target:
            from kimi_tui.fleet.backends.ray_backend import node_address

            self._service = BudgetService(self, host=node_address(ray_target))
            self._service.start()

    def gate_of(self, task: FleetTask) -> str:
        """Return the value of `GATE_VARIABLE` for a run of `task`."""
        if self._service is not None:
            return self._service.gate_of(task.id).to_text()
        return EnvironmentGate(budgets=self._budgets.budgets_of(task)).to_text()

    def budgets_of_id(self, task: str) -> Sequence[Budget]:
        """Implement `BudgetSource.budgets_of_id`."""
        return self._budgets.budgets_of(self._tasks[task])

    def close(self) -> None:
        """Stop the service."""
        if self._service is not None:
            self._service.close()
