"""Budgets: cost limits that several processes share."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg

GATE_VARIABLE = "KIMI_TUI_BUDGETS"
"""Environment variable with the budgets of a run: an `EnvironmentGate` as JSON."""

BudgetKind = Literal["task", "fleet", "attempts", "day"]


@frozen(kw_only=True)
class Budget:
    """A cost limit, and the ledger that counts the spending."""

    ledger: str
    """Path of the ledger's SQLite file."""
    kind: BudgetKind
    key: str
    """Name of the budget in its ledger. A budget of kind `day` is reset every day."""
    limit_usd: float | None = None
    """Limit in US dollars; None to count the spending without a limit."""


@frozen(kw_only=True)
class EnvironmentGate:
    """Budgets that are passed to a child process: as files, or as the address of a budget service."""

    budgets: tuple[Budget, ...] = ()
    address: str = ""
    """HOST:PORT of a budget service for the budgets of `task`; empty to use `budgets`."""
    token: str = ""
    task: str = ""

    def to_text(self) -> str:
        """Return the value of `GATE_VARIABLE`."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "EnvironmentGate":
        """Parse the value of `GATE_VARIABLE`. Raises ConfigError."""
        try:
            values = json.loads(text)
            budgets = tuple(Budget(**budget) for budget in values.pop("budgets"))
            return cls(budgets=budgets, **values)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(
                msg("{variable} is invalid: {problem}.", variable=GATE_VARIABLE, problem=error),
                hint="Only `kimi-tui fleet` sets it. Unset it.",
            ) from error


def environment_gate() -> EnvironmentGate | None:
    """Return the budgets that the parent process passed to this process, if any. Raises ConfigError."""
    text = os.environ.get(GATE_VARIABLE)
    return EnvironmentGate.parse(text) if text else None


def ledgers_of(budgets: Sequence[Budget]) -> dict[str, list[Budget]]:
    """Return the budgets by ledger, in order."""
    by_ledger: dict[str, list[Budget]] = {}
    for budget in budgets:
        by_ledger.setdefault(budget.ledger, []).append(budget)
    return by_ledger
