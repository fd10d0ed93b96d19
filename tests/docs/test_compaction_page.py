"""docs/compaction.md: every strategy has an example, and a long session runs on with each."""

import pytest

from kimi_tui.config.settings import OWN_STRATEGIES
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import CompactionEnd, TurnEnd
from tests.docs.pages import Example, examples
from tests.engine.front import Home, call, script

STRATEGIES = examples("compaction.md", language="toml")


def test_every_strategy_has_a_heading_with_an_example_that_names_it() -> None:
    assert [example.heading for example in STRATEGIES] == list(OWN_STRATEGIES)
    for example in STRATEGIES:
        assert example.toml["compaction"]["strategy"] == OWN_STRATEGIES[example.heading]


@pytest.mark.parametrize("example", STRATEGIES, ids=lambda it: it.heading)
async def test_each_makes_a_conversation_shorter_and_work_goes_on(home: Home, example: Example) -> None:
    for number in range(14):
        home.file(f"{number}.txt").write_text("much to read\n" * 500)
    steps = [
        script("text: reading", call(f"c{number}", "ReadFile", path=f"{number}.txt")) for number in range(14)
    ]
    home.script(*steps, "text: read", "text: THE SUMMARY", "text: still here")
    async with home.opened(settings=home.settings(**example.toml)) as front:
        assert (await front.turn("read all of it")).outcome == "finished"
        front.give(RunSlash("compact"))
        assert (await front.until(TurnEnd)).outcome == "finished"
        (end,) = front.of(CompactionEnd)
        assert end.tokens_before is not None
        assert end.tokens_after is not None
        assert end.tokens_after < end.tokens_before * 0.8
        if "THE SUMMARY" not in home.journal:
            await front.turn("a script that the summary did not need")
        assert (await front.turn("are you there?")).outcome == "finished"
