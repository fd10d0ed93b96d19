"""The conversation pane shows what the wire tells."""

from kimi_tui.base.content import TextPart
from kimi_tui.wire.events import StepBegin, TurnBegin, TurnEnd
from tests.tui.transcript.conftest import OpenStage


async def test_a_prompt_and_its_answer_stand_below_each_other(stage: OpenStage) -> None:
    async with stage() as s:
        rows = await s.feed(TurnBegin("hello"), StepBegin(1), TextPart("Hi **there**."), TurnEnd())
        assert [row for row in rows if row] == ["  ▌ you", "  ▌ hello", "  Hi there."]
