"""Hiding first, then a summary."""

from kimi_tui.base.compacted import is_summary
from kimi_tui.compaction.hiding_then_summary import HidingThenSummaryCompaction
from tests.compaction.conversations import Summariser, answered, context_of, said, steps


async def test_as_long_as_hiding_helps_no_model_is_asked() -> None:
    ask = Summariser()
    history = [said("go"), *steps(20, size=1000)]
    shorter = await HidingThenSummaryCompaction().compact(context_of(history, ask=ask))
    assert shorter is not None
    assert len(shorter) == len(history)
    assert not ask.questions


async def test_with_nothing_to_hide_it_summarises() -> None:
    history = [said("a"), answered("b"), said("c"), answered("d")]
    shorter = await HidingThenSummaryCompaction().compact(context_of(history))
    assert shorter is not None
    assert is_summary(shorter[0])


async def test_when_hiding_frees_too_little_it_summarises() -> None:
    history = [said("x" * 30_000), *steps(7), said("now")]
    shorter = await HidingThenSummaryCompaction().compact(context_of(history, window=8000))
    assert shorter is not None
    assert is_summary(shorter[0])


async def test_with_nothing_to_hide_or_summarise_there_is_nothing_to_do() -> None:
    assert await HidingThenSummaryCompaction().compact(context_of([said("a"), answered("b")])) is None
