"""Spending gate of a session: the budgets of its fleet, or the user's own budgets."""

from pathlib import Path

from kimi_tui.config.settings import BudgetSettings
from kimi_tui.llm.metering.budget import Budget, environment_gate
from kimi_tui.llm.metering.gate import SpendingGate


def build_spending_gate(settings: BudgetSettings, data_dir: Path) -> SpendingGate | None:
    """Return the gate of a session, or None if no budget applies. Raises ConfigError."""
    inherited = environment_gate()
    if inherited is not None and inherited.address:
        from kimi_tui.llm.metering.service_gate import ServiceGate

        return ServiceGate(inherited)
    budgets = inherited.budgets if inherited is not None else day_budgets(settings, data_dir)
    if not budgets:
        return None
    from kimi_tui.llm.metering.ledger_gate import LedgerGate  # imports sqlite3

    return LedgerGate(budgets)


def day_budgets(settings: BudgetSettings, data_dir: Path) -> tuple[Budget, ...]:
    """Return the user's daily budget; empty if not set."""
    if settings.per_day is None:
        return ()
    ledger = str(data_dir / "spending.db")
    return (Budget(ledger=ledger, kind="day", key="", limit_usd=settings.per_day),)
