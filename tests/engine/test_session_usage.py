"""Usage and cost of a session across runs."""

from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.config.settings import ModelPrice
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import CostUpdate, StatusUpdate
from kimi_tui.wire.session import CacheMiss
from kimi_tui.wire.usage import UsageReport
from tests.engine.fake_front_end import SessionEnv, script

RESPONSE = script("text: hello", "usage: input_other=90000 output=10000")


async def test_usage_and_cost_continue_in_a_resumed_session(home: SessionEnv) -> None:
    home.price = ModelPrice(input=10, output=10)
    home.script(RESPONSE, RESPONSE, RESPONSE)
    async with home.open_session() as front:
        await front.turn("hello")
    assert home.state["cost_usd"] == 1.0
    async with home.open_session(continue_last=True) as front:
        assert front.of(StatusUpdate)[-1].session_usage.total == 100_000
        assert front.of(CostUpdate)[-1].cost_usd == 1.0
        await front.turn("again")
        assert front.of(CostUpdate)[-1].cost_usd == 2.0


async def test_the_cost_is_reported_by_model_across_runs(home: SessionEnv) -> None:
    home.price = ModelPrice(input=10, output=10)
    home.script(RESPONSE, RESPONSE)
    async with home.open_session() as front:
        await front.turn("hello")
    async with home.open_session(continue_last=True) as front:
        await front.turn("again")
        front.send(RunSlash("cost"))
        report = await front.wait_for(UsageReport)
    [model] = report.models
    assert model.usage == report.usage == TokenUsage(180_000, 20_000)
    assert model.cost_usd == report.cost_usd == 2.0


async def test_the_cost_limit_applies_across_runs(home: SessionEnv) -> None:
    home.price = ModelPrice(input=10, output=10)
    home.script(RESPONSE, RESPONSE, RESPONSE)
    async with home.open_session(max_cost_usd=1.5) as front:
        assert (await front.turn("hello")).outcome == "finished"
    async with home.open_session(max_cost_usd=1.5, continue_last=True) as front:
        assert (await front.turn("again")).outcome == "finished"
    async with home.open_session(max_cost_usd=1.5, continue_last=True) as front:
        assert (await front.turn("more")).outcome == "limit"


async def test_a_fork_starts_without_cost(home: SessionEnv) -> None:
    home.price = ModelPrice(input=10, output=10)
    home.script(RESPONSE, RESPONSE, RESPONSE)
    async with home.open_session() as front:
        await front.turn("hello")
    async with home.open_session(continue_last=True, fork=True) as front:
        assert front.of(CostUpdate) == []


async def test_a_cache_miss_after_clear_is_reported_with_its_cause(home: SessionEnv) -> None:
    home.script(
        script("text: a", "usage: input_other=100 input_cache_creation=9000"),
        script("text: b", "usage: input_other=100 input_cache_read=9000"),
        script("text: c", "usage: input_other=5000"),
    )
    async with home.open_session() as front:
        await front.turn("one")
        await front.turn("two")
        assert [status.cache_miss for status in front.of(StatusUpdate) if status.cache_miss] == []
        front.send(RunSlash("clear"))
        await front.turn("three")
        misses = [status.cache_miss for status in front.of(StatusUpdate) if status.cache_miss]
        assert misses == [CacheMiss(5000, "conversation")]
