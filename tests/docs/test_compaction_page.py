"""docs/compaction.md: the table has every strategy, and the example works with each of them."""

import re

import pytest

from kimi_tui.config.settings import BUILTIN_STRATEGIES, Settings
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import CompactionEnd, TurnEnd
from tests.docs.pages import DOCS, examples
from tests.engine.fake_front_end import SessionEnv, call, script

(EXAMPLE,) = examples("compaction.md", language="toml")


def test_every_strategy_is_in_the_table() -> None:
    page = (DOCS / "compaction.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+Compaction)` \|", page, re.MULTILINE) == list(BUILTIN_STRATEGIES)


def test_the_example_shows_the_default_limits() -> None:
    assert EXAMPLE.toml["loop_control"].items() <= Settings().loop_control.model_dump().items()


@pytest.mark.parametrize("strategy", BUILTIN_STRATEGIES)
async def test_each_strategy_shortens_a_conversation(home: SessionEnv, strategy: str) -> None:
    for number in range(14):
        home.file(f"{number}.txt").write_text("much to read\n" * 500)
    steps = [
        script("text: reading", call(f"c{number}", "ReadFile", path=f"{number}.txt")) for number in range(14)
    ]
    home.script(*steps, "text: read", "text: THE SUMMARY", "text: still here")
    tables = {**EXAMPLE.toml, "compaction": {"strategy": strategy}}
    async with home.open_session(settings=home.settings(**tables)) as front:
        assert (await front.turn("read all of it")).outcome == "finished"
        front.send(RunSlash("compact"))
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        (end,) = front.of(CompactionEnd)
        assert end.tokens_before is not None
        assert end.tokens_after is not None
        assert end.tokens_after < end.tokens_before * 0.8
        if "THE SUMMARY" not in home.journal:
            await front.turn("a script that the summary did not need")
        assert (await front.turn("are you there?")).outcome == "finished"
