"""Spending gate for ledgers in files on this machine."""

import threading
from collections.abc import Sequence
from pathlib import Path

from kimi_tui.llm.metering.budget import Budget, ledgers_of
from kimi_tui.llm.metering.gate import CallRequest, GateDecision
from kimi_tui.llm.metering.ledger import SpendingLedger


class LedgerGate:
    """Implements `SpendingGate` for `budgets`. The first ledger also stores the rate limits."""

    def __init__(self, budgets: Sequence[Budget]) -> None:
        self._ledgers = [(SpendingLedger(Path(path)), its) for path, its in ledgers_of(budgets).items()]
        self._open_calls: dict[str, list[SpendingLedger]] = {}
        self._lock = threading.Lock()

    def reserve(self, request: CallRequest) -> GateDecision:
        """Implement `SpendingGate.reserve`."""
        reserved: list[SpendingLedger] = []
        wait_s = 0.0
        for number, (ledger, budgets) in enumerate(self._ledgers):
            decision = ledger.reserve(request, budgets, paces=number == 0)
            if decision.verdict != "granted":
                for earlier in reserved:
                    earlier.settle(request.call_id, 0.0)
                return decision
            reserved.append(ledger)
            wait_s = max(wait_s, decision.wait_s)
        with self._lock:
            self._open_calls[request.call_id] = reserved
        return GateDecision(verdict="granted", wait_s=wait_s)

    def settle(self, call_id: str, usd: float | None) -> None:
        """Implement `SpendingGate.settle`."""
        with self._lock:
            ledgers = self._open_calls.pop(call_id, [])
        for ledger in ledgers:
            ledger.settle(call_id, usd)

    def slow_down(self, service: str, wait_s: float) -> None:
        """Implement `SpendingGate.slow_down`."""
        if self._ledgers:
            self._ledgers[0][0].slow_down(service, wait_s)

    def close(self) -> None:
        """Implement `SpendingGate.close`."""
        for call_id in list(self._open_calls):
            self.settle(call_id, None)
        for ledger, _ in self._ledgers:
            ledger.close()
