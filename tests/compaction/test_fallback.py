"""Dropping what is older."""

from kimi_tui.base.compacted import SUMMARY_LEAD
from kimi_tui.compaction.fallback import FallbackCompaction
from kimi_tui.history.estimate import estimated_tokens
from tests.compaction.conversations import (
    Summariser,
    answered,
    assert_sendable,
    context_of,
    said,
    step,
    steps,
)


async def test_the_newest_ten_messages_stay_and_the_model_is_not_asked() -> None:
    ask = Summariser()
    history = [said("go"), *steps(10)]
    shorter = await FallbackCompaction().compact(context_of(history, ask=ask))
    assert shorter is not None
    assert list(shorter[1:]) == [history[0], *history[-10:]]
    assert not ask.questions


async def test_it_says_what_was_dropped() -> None:
    history = [said("first"), answered("a"), said("go"), *steps(8)]
    shorter = await FallbackCompaction().compact(context_of(history))
    assert shorter is not None
    assert "1 of the user's, 4 of yours, 3 of tools" in shorter[0].text


async def test_the_cut_never_parts_a_call_from_its_results() -> None:
    history = [said("go"), *steps(3), *step(7, *"abcdefg"), *step(8, *"hijkl")]
    shorter = await FallbackCompaction().compact(context_of(history))
    assert shorter is not None
    assert_sendable(shorter)
    assert list(shorter[1:]) == [history[0], *history[-6:]]


async def test_a_group_of_more_than_ten_stays_whole() -> None:
    history = [said("go"), *steps(3), *step(7, *"abcdefghijklmno")]
    shorter = await FallbackCompaction().compact(context_of(history))
    assert shorter is not None
    assert list(shorter[1:]) == [history[0], *history[-16:]]


async def test_messages_that_fill_the_window_go_too() -> None:
    history = [said("go"), *steps(12, size=20_000), *step(99, "small")]
    shorter = await FallbackCompaction().compact(context_of(history, window=10_000))
    assert shorter is not None
    assert list(shorter[1:]) == [history[0], *history[-2:]]
    assert estimated_tokens(shorter) < 5000


async def test_an_earlier_summary_stays() -> None:
    history = [said(f"{SUMMARY_LEAD}\n\nuse tabs"), said("go"), *steps(10)]
    shorter = await FallbackCompaction().compact(context_of(history, request=1))
    assert shorter is not None
    assert shorter[0] == history[0]


async def test_of_an_earlier_summary_that_is_too_long_the_ends_stay() -> None:
    history = [said(f"{SUMMARY_LEAD}\n\nuse tabs {'x' * 50_000} and spaces"), said("go"), *steps(10)]
    shorter = await FallbackCompaction().compact(context_of(history, request=1, window=10_000))
    assert shorter is not None
    assert "use tabs" in shorter[0].text
    assert "and spaces" in shorter[0].text
    assert estimated_tokens(shorter[:1]) < 1500


async def test_a_short_conversation_stays_as_it_is() -> None:
    assert await FallbackCompaction().compact(context_of([said("go"), *steps(4)])) is None
    assert await FallbackCompaction().compact(context_of([])) is None
