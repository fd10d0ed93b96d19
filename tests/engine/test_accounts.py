"""What a session has used: counted over its restarts."""

from kimi_tui.config.settings import ModelPrice
from kimi_tui.wire.events import CostUpdate, StatusUpdate
from tests.engine.front import Home, script

ANSWER = script("text: hello", "usage: input_other=90000 output=10000")


async def test_usage_and_cost_go_on_where_the_run_before_ended(home: Home) -> None:
    home.price = ModelPrice(input=10, output=10)
    home.script(ANSWER, ANSWER, ANSWER)
    async with home.opened() as front:
        await front.turn("hello")
    assert home.state["cost_usd"] == 1.0
    async with home.opened(continue_last=True) as front:
        assert front.of(StatusUpdate)[-1].session_usage.total == 100_000
        assert front.of(CostUpdate)[-1].cost_usd == 1.0
        await front.turn("again")
        assert front.of(CostUpdate)[-1].cost_usd == 2.0


async def test_a_limit_of_the_cost_holds_over_restarts(home: Home) -> None:
    home.price = ModelPrice(input=10, output=10)
    home.script(ANSWER, ANSWER, ANSWER)
    async with home.opened(max_cost_usd=1.5) as front:
        assert (await front.turn("hello")).outcome == "finished"
    async with home.opened(max_cost_usd=1.5, continue_last=True) as front:
        assert (await front.turn("again")).outcome == "finished"
    async with home.opened(max_cost_usd=1.5, continue_last=True) as front:
        assert (await front.turn("more")).outcome == "limit"


async def test_a_copy_of_a_session_has_its_own_account(home: Home) -> None:
    home.price = ModelPrice(input=10, output=10)
    home.script(ANSWER, ANSWER, ANSWER)
    async with home.opened() as front:
        await front.turn("hello")
    async with home.opened(continue_last=True, fork=True) as front:
        assert front.of(CostUpdate) == []
