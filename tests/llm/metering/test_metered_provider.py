"""Model calls that ask for budget, through a file or a service."""

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import APIConnectionError, APIStatusError, LimitReached, SharedBudgetSpent
from kimi_tui.base.message import Message
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.metering.budget import Budget, EnvironmentGate
from kimi_tui.llm.metering.budget_service import BudgetService
from kimi_tui.llm.metering.gate import CallRequest
from kimi_tui.llm.metering.ledger import SpendingLedger
from kimi_tui.llm.metering.ledger_gate import LedgerGate
from kimi_tui.llm.metering.metered_provider import MeteredModel, MeteredProvider
from kimi_tui.llm.metering.service_gate import ServiceGate
from kimi_tui.llm.provider import Price
from tests.e2e.scenarios import wait_for

PRICE = Price(input=1000.0, output=1000.0)
"""A dollar for 1,000 tokens."""


class Provider:
    model_name = "m"

    def __init__(self, *parts):
        self._parts = parts

    def with_thinking(self, effort):
        return self

    async def prepare(self, system_prompt, history):
        pass

    async def aclose(self):
        pass

    async def generate(self, system_prompt, tools, history):
        for part in self._parts:
            if isinstance(part, Exception):
                raise part
            yield part


async def run(provider: MeteredProvider):
    return [part async for part in provider.generate("system", (), (Message("user", (TextPart("hi"),)),))]


def metered(provider, gate, price=PRICE):
    return MeteredProvider(provider, gate, MeteredModel(service="server", price=price, max_output_tokens=100))


class FixedBudgets:
    def __init__(self, *budgets):
        self._budgets = budgets

    def budgets_of_id(self, task):
        return self._budgets


@pytest.fixture
def budget(tmp_path):
    return Budget(ledger=str(tmp_path / "ledger.db"), kind="fleet", key="run", limit_usd=1.0)


@pytest.fixture(params=["file", "service"])
def gate(request, budget):
    if request.param == "file":
        gate = LedgerGate([budget])
        yield gate
        gate.close()
        return
    service = BudgetService(FixedBudgets(budget))
    service.start()
    gate = ServiceGate(service.gate_of("1"))
    yield gate
    gate.close()
    service.close()


def spent(budget) -> float:
    with closing(SpendingLedger(Path(budget.ledger))) as ledger:
        return ledger.spent_usd(budget)


async def test_the_reported_usage_is_charged_until_the_budget_is_spent(gate, budget):
    provider = metered(Provider(TextPart("ok"), TokenUsage(input_other=500, output=100)), gate)
    await run(provider)
    assert spent(budget) == pytest.approx(0.6)
    await run(provider.with_thinking("high"))
    assert spent(budget) == pytest.approx(1.2)
    with pytest.raises(SharedBudgetSpent, match=r"\$1.20 of \$1.00"):
        await run(provider)


async def test_a_call_that_fails_before_it_streams_is_free_and_a_broken_one_is_estimated(gate, budget):
    failing = Provider(APIStatusError("no", status_code=500))
    with pytest.raises(APIStatusError):
        await run(metered(failing, gate))
    assert spent(budget) == 0
    with pytest.raises(APIStatusError):
        await run(metered(Provider(TextPart("x" * 300), APIStatusError("no", status_code=500)), gate))
    assert spent(budget) == pytest.approx(0.104, abs=0.01)


async def test_a_rate_limit_makes_the_next_call_wait(gate, budget, monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    limited = Provider(APIStatusError("slow down", status_code=429, retry_after=7.0))
    with pytest.raises(APIStatusError):
        await run(metered(limited, gate))
    monkeypatch.setattr(asyncio, "sleep", sleep)
    await run(metered(Provider(TextPart("ok")), gate))
    assert waits[-1] == pytest.approx(7.0, abs=5)
    assert waits[-1] > 1


async def test_the_limit_of_a_task_is_not_the_limit_of_the_fleet(budget):
    gate = LedgerGate([replace(budget, kind="task")])
    provider = metered(Provider(TokenUsage(output=2000)), gate)
    await run(provider)
    with pytest.raises(LimitReached) as refused:
        await run(provider)
    assert not isinstance(refused.value, SharedBudgetSpent)
    gate.close()


async def test_a_model_without_a_price_is_free(gate, budget):
    await run(metered(Provider(TokenUsage(output=10**6)), gate, price=None))
    assert spent(budget) == 0


async def test_a_lost_connection_charges_the_open_call_and_stops_new_ones(budget):
    service = BudgetService(FixedBudgets(budget))
    service.start()
    gate = ServiceGate(service.gate_of("1"))
    call = CallRequest(call_id="open", service="server", estimate_usd=0.3)
    assert gate.reserve(call).verdict == "granted"
    with pytest.raises(APIConnectionError, match="Lost the budget service"):
        await run(metered(Provider(), ServiceGate(EnvironmentGate(address="127.0.0.1:1", token="x"))))
    intruder = ServiceGate(replace(service.gate_of("1"), token="wrong"))
    with pytest.raises(APIConnectionError):
        await run(metered(Provider(), intruder))
    gate.close()
    service.close()
    await asyncio.to_thread(wait_for, lambda: spent(budget) > 0)
    assert spent(budget) == pytest.approx(0.3)
