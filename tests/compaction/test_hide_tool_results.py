"""Hiding tool results."""

from kimi_tui.compaction.hide_tool_results import PLACEHOLDER, ToolResultHidingCompaction
from tests.compaction.conversations import (
    assert_sendable,
    assistant,
    build_context,
    note,
    tool_step,
    tool_steps,
    user,
)


async def test_the_results_of_the_five_newest_groups_are_kept() -> None:
    history = [user("go"), *tool_steps(8)]
    shorter = await ToolResultHidingCompaction().compact(build_context(history))
    assert shorter is not None
    texts = [message.text for message in shorter if message.role == "tool"]
    assert texts[:3] == [PLACEHOLDER.text] * 3
    assert [text[:2] for text in texts[3:]] == ["r3", "r4", "r5", "r6", "r7"]


async def test_calls_of_one_message_form_one_group() -> None:
    history = [
        user("go"),
        *(message for n in range(6) for message in tool_step(n, f"a{n}", f"b{n}", f"c{n}")),
    ]
    shorter = await ToolResultHidingCompaction().compact(build_context(history))
    assert shorter is not None
    assert [message.text for message in shorter if message.role == "tool"][:4] == [PLACEHOLDER.text] * 3 + [
        "a1"
    ]


async def test_messages_without_calls_are_not_groups() -> None:
    history = [user("go")]
    for number in range(5):
        history += [*tool_step(number, f"r{number}"), note("CHECKPOINT 1"), user("more"), assistant("well")]
    assert await ToolResultHidingCompaction().compact(build_context(history)) is None


async def test_each_result_stays_with_its_call() -> None:
    history = [user("go"), *tool_steps(9)]
    shorter = await ToolResultHidingCompaction().compact(build_context(history))
    assert shorter is not None
    assert_sendable(shorter)
    assert [(m.role, m.tool_call_id) for m in shorter] == [(m.role, m.tool_call_id) for m in history]


async def test_hidden_results_stay_unchanged() -> None:
    strategy = ToolResultHidingCompaction()
    hidden = await strategy.compact(build_context([user("go"), *tool_steps(8)]))
    assert hidden is not None
    assert await strategy.compact(build_context(hidden)) is None
    hidden_again = await strategy.compact(build_context([*hidden, *tool_step(9, "new")]))
    assert hidden_again is not None
    assert list(hidden_again[:7]) == list(hidden[:7])


async def test_without_calls_there_is_nothing_to_do() -> None:
    assert await ToolResultHidingCompaction().compact(build_context([user("hi"), assistant("hello")])) is None
    assert await ToolResultHidingCompaction().compact(build_context([])) is None
