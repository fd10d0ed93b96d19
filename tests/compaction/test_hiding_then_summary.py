"""Hiding tool results first, then summarizing."""

from kimi_tui.base.compaction_markers import is_summary
from kimi_tui.compaction.hiding_then_summary import HidingThenSummaryCompaction
from tests.compaction.conversations import FakeSummarizer, assistant, build_context, tool_steps, user


async def test_no_model_is_asked_as_long_as_hiding_helps() -> None:
    ask = FakeSummarizer()
    history = [user("go"), *tool_steps(20, size=1000)]
    shorter = await HidingThenSummaryCompaction().compact(build_context(history, ask=ask))
    assert shorter is not None
    assert len(shorter) == len(history)
    assert not ask.questions


async def test_without_results_to_hide_it_summarizes() -> None:
    history = [user("a"), assistant("b"), user("c"), assistant("d")]
    shorter = await HidingThenSummaryCompaction().compact(build_context(history))
    assert shorter is not None
    assert is_summary(shorter[0])


async def test_if_hiding_frees_too_little_it_summarizes() -> None:
    history = [user("x" * 30_000), *tool_steps(7), user("now")]
    shorter = await HidingThenSummaryCompaction().compact(build_context(history, window=8000))
    assert shorter is not None
    assert is_summary(shorter[0])


async def test_with_nothing_to_hide_or_summarize_there_is_nothing_to_do() -> None:
    assert await HidingThenSummaryCompaction().compact(build_context([user("a"), assistant("b")])) is None
