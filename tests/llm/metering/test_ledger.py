"""Ledgers: what several processes may spend together."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from kimi_tui.llm.metering.budget import Budget
from kimi_tui.llm.metering.gate import CallRequest
from kimi_tui.llm.metering.ledger import LedgerClock, SpendingLedger
from kimi_tui.llm.metering.ledger_gate import LedgerGate


def call(name: str, usd: float = 1.0) -> CallRequest:
    return CallRequest(call_id=name, service="server", estimate_usd=usd)


class Clock(LedgerClock):
    time = 1000.0
    day = date(2030, 1, 1)

    def now(self) -> float:
        return self.time

    def today(self) -> date:
        return self.day


@pytest.fixture
def budget(tmp_path):
    return Budget(ledger=str(tmp_path / "ledger.db"), kind="fleet", key="run", limit_usd=2.0)


@pytest.fixture
def ledger(tmp_path):
    with_clock = SpendingLedger(tmp_path / "ledger.db", clock=Clock())
    yield with_clock
    with_clock.close()


def test_a_call_that_fits_is_granted_and_its_cost_is_counted(ledger, budget):
    assert ledger.reserve(call("a"), [budget]).verdict == "granted"
    assert ledger.spent_usd(budget) == 0
    ledger.settle("a", 0.4)
    assert ledger.spent_usd(budget) == pytest.approx(0.4)


def test_a_call_waits_while_only_reservations_are_in_its_way(ledger, budget):
    ledger.reserve(call("a", 1.5), [budget])
    assert ledger.reserve(call("b"), [budget]).verdict == "wait"
    ledger.settle("a", 0.1)
    assert ledger.reserve(call("b"), [budget]).verdict == "granted"


def test_one_call_may_exceed_the_limit_and_the_next_is_refused(ledger, budget):
    assert ledger.reserve(call("a", 50.0), [budget]).verdict == "granted"
    ledger.settle("a", 3.0)
    refusal = ledger.reserve(call("b"), [budget])
    assert (refusal.verdict, refusal.spent_usd, refusal.limit_usd) == ("refused", 3.0, 2.0)


def test_a_failed_call_costs_nothing_and_an_unknown_cost_counts_as_estimated(ledger, budget):
    ledger.reserve(call("a"), [budget])
    ledger.settle("a", 0.0)
    assert ledger.spent_usd(budget) == 0
    ledger.reserve(call("b", 0.7), [budget])
    ledger.settle("b", None)
    assert ledger.spent_usd(budget) == pytest.approx(0.7)


def test_the_reservation_of_a_killed_process_counts_as_spent(ledger, budget):
    program = f"""
from pathlib import Path
from kimi_tui.llm.metering.budget import Budget
from kimi_tui.llm.metering.gate import CallRequest
from kimi_tui.llm.metering.ledger import SpendingLedger
import os
budget = Budget(ledger={budget.ledger!r}, kind="fleet", key="run", limit_usd=2.0)
SpendingLedger(Path(budget.ledger)).reserve(CallRequest(call_id="x", service="s", estimate_usd=1.2), [budget])
os.kill(os.getpid(), 9)
"""
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -9
    assert ledger.spent_usd(budget) == pytest.approx(1.2)


def test_many_threads_never_spend_more_than_the_limit_if_the_estimates_are_right(tmp_path, budget):
    def spend(number: int) -> int:
        gate = LedgerGate([budget])
        calls = 0
        while True:
            request = call(f"{number}-{calls}", 0.05)
            decision = gate.reserve(request)
            if decision.verdict == "refused":
                gate.close()
                return calls
            if decision.verdict == "granted":
                gate.settle(request.call_id, 0.05)
                calls += 1

    with ThreadPoolExecutor(4) as pool:
        calls = sum(pool.map(spend, range(4)))
    with closing(SpendingLedger(Path(budget.ledger))) as ledger:
        spent = ledger.spent_usd(budget)
    assert spent == pytest.approx(calls * 0.05)
    assert spent + 1e-9 >= 2.0
    assert spent <= 2.05 + 1e-9


def test_a_day_budget_starts_again_the_next_day(tmp_path):
    budget = Budget(ledger=str(tmp_path / "l.db"), kind="day", key="", limit_usd=1.0)
    clock = Clock()
    ledger = SpendingLedger(tmp_path / "l.db", clock=clock)
    ledger.reserve(call("a"), [budget])
    ledger.settle("a", 1.0)
    assert ledger.reserve(call("b"), [budget]).verdict == "refused"
    clock.day = date(2030, 1, 2)
    assert ledger.reserve(call("b"), [budget]).verdict == "granted"
    ledger.close()


def test_a_rate_limit_slows_down_every_worker_and_wears_off(tmp_path, budget):
    clock = Clock()
    first, second = (SpendingLedger(tmp_path / "ledger.db", clock=clock) for _ in range(2))
    assert second.reserve(call("before"), [], paces=True).wait_s == 0
    first.slow_down("server", 5.0)
    waits = [second.reserve(call(f"c{n}"), []).wait_s for n in range(3)]
    assert waits[0] == pytest.approx(5.0)
    assert waits[0] < waits[1] < waits[2]
    clock.time += 60
    later = [second.reserve(call(f"d{n}"), []).wait_s for n in range(20)]
    assert later[-1] == 0
    first.close()
    second.close()


def test_a_spent_budget_leaves_no_reservation_in_another_ledger(tmp_path, budget):
    day = Budget(ledger=str(tmp_path / "day.db"), kind="day", key="", limit_usd=1.0)
    gate = LedgerGate([budget, day])
    gate.reserve(call("a", 1.0))
    gate.settle("a", 1.0)
    assert gate.reserve(call("b", 0.5)).kind == "day"
    other = LedgerGate([budget])
    assert other.reserve(call("c", 1.0)).verdict == "granted"
    gate.close()
    other.close()
