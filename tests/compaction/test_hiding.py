"""Hiding tool results."""

from kimi_tui.compaction.hiding import PLACEHOLDER, ToolResultHidingCompaction
from tests.compaction.conversations import answered, assert_sendable, context_of, note, said, step, steps


async def test_the_results_of_the_five_newest_groups_stay() -> None:
    history = [said("go"), *steps(8)]
    shorter = await ToolResultHidingCompaction().compact(context_of(history))
    assert shorter is not None
    texts = [message.text for message in shorter if message.role == "tool"]
    assert texts[:3] == [PLACEHOLDER.text] * 3
    assert [text[:2] for text in texts[3:]] == ["r3", "r4", "r5", "r6", "r7"]


async def test_calls_of_one_message_are_one_group() -> None:
    history = [said("go"), *(message for n in range(6) for message in step(n, f"a{n}", f"b{n}", f"c{n}"))]
    shorter = await ToolResultHidingCompaction().compact(context_of(history))
    assert shorter is not None
    assert [message.text for message in shorter if message.role == "tool"][:4] == [PLACEHOLDER.text] * 3 + [
        "a1"
    ]


async def test_what_the_program_or_the_user_says_between_is_no_group() -> None:
    history = [said("go")]
    for number in range(5):
        history += [*step(number, f"r{number}"), note("CHECKPOINT 1"), said("more"), answered("well")]
    assert await ToolResultHidingCompaction().compact(context_of(history)) is None


async def test_each_result_stays_with_its_call() -> None:
    history = [said("go"), *steps(9)]
    shorter = await ToolResultHidingCompaction().compact(context_of(history))
    assert shorter is not None
    assert_sendable(shorter)
    assert [(m.role, m.tool_call_id) for m in shorter] == [(m.role, m.tool_call_id) for m in history]


async def test_what_is_hidden_stays_as_it_is() -> None:
    strategy = ToolResultHidingCompaction()
    once = await strategy.compact(context_of([said("go"), *steps(8)]))
    assert once is not None
    assert await strategy.compact(context_of(once)) is None
    again = await strategy.compact(context_of([*once, *step(9, "new")]))
    assert again is not None
    assert list(again[:7]) == list(once[:7])


async def test_without_calls_there_is_nothing_to_do() -> None:
    assert await ToolResultHidingCompaction().compact(context_of([said("hi"), answered("hello")])) is None
    assert await ToolResultHidingCompaction().compact(context_of([])) is None
