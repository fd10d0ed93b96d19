"""Fallback compaction, which drops older messages."""

from kimi_tui.base.compaction_markers import SUMMARY_PREFIX
from kimi_tui.compaction.fallback import FallbackCompaction
from kimi_tui.history.token_estimate import estimate_tokens
from tests.compaction.conversations import (
    FakeSummarizer,
    assert_sendable,
    assistant,
    build_context,
    tool_step,
    tool_steps,
    user,
)


async def test_the_newest_ten_messages_are_kept_without_asking_the_model() -> None:
    ask = FakeSummarizer()
    history = [user("go"), *tool_steps(10)]
    shorter = await FallbackCompaction().compact(build_context(history, ask=ask))
    assert shorter is not None
    assert list(shorter[1:]) == [history[0], *history[-10:]]
    assert not ask.questions


async def test_the_warning_counts_the_dropped_messages() -> None:
    history = [user("first"), assistant("a"), user("go"), *tool_steps(8)]
    shorter = await FallbackCompaction().compact(build_context(history))
    assert shorter is not None
    assert "1 from the user, 4 from you, 3 from tools" in shorter[0].text


async def test_a_call_is_never_separated_from_its_results() -> None:
    history = [user("go"), *tool_steps(3), *tool_step(7, *"abcdefg"), *tool_step(8, *"hijkl")]
    shorter = await FallbackCompaction().compact(build_context(history))
    assert shorter is not None
    assert_sendable(shorter)
    assert list(shorter[1:]) == [history[0], *history[-6:]]


async def test_a_group_of_more_than_ten_messages_is_kept_whole() -> None:
    history = [user("go"), *tool_steps(3), *tool_step(7, *"abcdefghijklmno")]
    shorter = await FallbackCompaction().compact(build_context(history))
    assert shorter is not None
    assert list(shorter[1:]) == [history[0], *history[-16:]]


async def test_recent_messages_that_fill_the_context_window_are_dropped() -> None:
    history = [user("go"), *tool_steps(12, size=20_000), *tool_step(99, "small")]
    shorter = await FallbackCompaction().compact(build_context(history, window=10_000))
    assert shorter is not None
    assert list(shorter[1:]) == [history[0], *history[-2:]]
    assert estimate_tokens(shorter) < 5000


async def test_an_earlier_summary_is_kept() -> None:
    history = [user(f"{SUMMARY_PREFIX}\n\nuse tabs"), user("go"), *tool_steps(10)]
    shorter = await FallbackCompaction().compact(build_context(history, request=1))
    assert shorter is not None
    assert shorter[0] == history[0]


async def test_an_earlier_summary_that_is_too_long_loses_its_middle() -> None:
    history = [user(f"{SUMMARY_PREFIX}\n\nuse tabs {'x' * 50_000} and spaces"), user("go"), *tool_steps(10)]
    shorter = await FallbackCompaction().compact(build_context(history, request=1, window=10_000))
    assert shorter is not None
    assert "use tabs" in shorter[0].text
    assert "and spaces" in shorter[0].text
    assert estimate_tokens(shorter[:1]) < 1500


async def test_a_short_conversation_is_unchanged() -> None:
    assert await FallbackCompaction().compact(build_context([user("go"), *tool_steps(4)])) is None
    assert await FallbackCompaction().compact(build_context([])) is None
