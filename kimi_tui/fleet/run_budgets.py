"""Budgets of a fleet's tasks: of the task, of the fleet and of the day."""

from kimi_tui.base.errors import ConfigError, ModelNotSet, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.config.resolved_model import resolve_model
from kimi_tui.config.settings import Settings
from kimi_tui.fleet.attempt import RunOptions
from kimi_tui.fleet.fleet_task import FleetTask
from kimi_tui.llm.metering.budget import Budget

FLEET_KEY = "run"
"""Name of the fleet's own budget in its ledger."""


@frozen(kw_only=True)
class RunBudgets:
    """The limits of a run, and the ledgers that count."""

    ledger: str
    """The fleet's database."""
    max_cost: float | None = None
    per_day: float | None = None
    day_ledger: str = ""

    def budgets_of(self, task: FleetTask) -> tuple[Budget, ...]:
        """Return the budgets of a task. The fleet's ledger is first: it also has the rate limits."""
        budgets = (
            Budget(ledger=self.ledger, kind="fleet", key=FLEET_KEY, limit_usd=self.max_cost),
            Budget(ledger=self.ledger, kind="task", key=task.id, limit_usd=task.limits.max_cost),
        )
        if self.per_day is None:
            return budgets
        return (*budgets, Budget(ledger=self.day_ledger, kind="day", key="", limit_usd=self.per_day))


def check_prices(
    tasks: "tuple[FleetTask, ...]", options: RunOptions, settings: Settings, max_cost: float | None
) -> None:
    """Check that the cost of every limited task is known. Raises UsageError, ConfigError."""
    names = {
        (task.model or options.model)
        for task in tasks
        if (max_cost is not None or task.limits.max_cost is not None)
        and not (options.demo and not task.model)
    }
    for name in names:
        try:
            model = resolve_model(settings, name)
        except (ConfigError, ModelNotSet):
            continue  # each task reports it
        if model.price is None:
            raise UsageError(
                msg("Model {name} has no price, so its cost can't be limited.", name=model.name),
                hint=msg("Set models.{name}.price, or remove the cost limits.", name=model.name),
            )
