"""Summaries by a model."""

import pytest

from kimi_tui.base.compacted import SUMMARY_LEAD, is_summary
from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import APIConnectionError, ContextTooLong
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.compaction.summary import LLMSummaryCompaction
from kimi_tui.history.estimate import estimated_tokens
from tests.compaction.conversations import (
    Summariser,
    answered,
    assert_sendable,
    context_of,
    note,
    said,
    step,
    steps,
)


async def test_the_summary_comes_first_and_says_what_it_is() -> None:
    history = [said("hello"), answered("hi"), said("do it"), answered("done")]
    shorter = await LLMSummaryCompaction().compact(context_of(history))
    assert shorter is not None
    assert shorter[0].text == f"{SUMMARY_LEAD}\n\nSUMMARY 1"
    assert shorter[0].role == "user"
    assert list(shorter[1:]) == history[2:]


async def test_the_cut_never_parts_a_call_from_its_results() -> None:
    history = [said("go"), *steps(3), *step(7, "a", "b", "c"), answered("so"), *step(9, "d", "e")]
    shorter = await LLMSummaryCompaction().compact(context_of(history))
    assert shorter is not None
    assert_sendable(shorter)
    assert list(shorter[1:]) == [history[0], *history[-4:]]


async def test_the_programs_notes_count_for_nothing() -> None:
    history = [said("go"), *steps(3), answered("a"), note("x"), answered("b"), note("y"), note("z")]
    shorter = await LLMSummaryCompaction().compact(context_of(history))
    assert shorter is not None
    assert list(shorter[1:]) == [history[0], *history[-5:]]


async def test_what_the_user_said_in_this_turn_stays_word_for_word() -> None:
    history = [said("old"), answered("ok"), said("fix it"), *steps(2), said("in French"), *steps(4)]
    shorter = await LLMSummaryCompaction().compact(context_of(history, request=2))
    assert shorter is not None
    assert [message.text for message in shorter if message.role == "user"][1:] == ["fix it", "in French"]


@pytest.mark.parametrize(
    "history",
    [
        [],
        [said("hi")],
        [said("hi"), answered("hello")],
        [said(f"{SUMMARY_LEAD}\n\nold"), said("hi"), answered("hello")],
        [note("CHECKPOINT 0"), said("hi"), *step(1, "r")],
    ],
    ids=len,
)
async def test_without_anything_older_there_is_nothing_to_do(history: list[Message]) -> None:
    ask = Summariser()
    assert await LLMSummaryCompaction().compact(context_of(history, ask=ask)) is None
    assert not ask.questions


async def test_the_model_reads_what_was_said_but_no_thoughts() -> None:
    call = ToolCall("c", FunctionCall("Bash", '{"timeout": 3, "command": "make test"}'))
    history = [
        user_message((TextPart("look"), ImageURLPart(MediaURL("data:image/png;base64,AAAA")))),
        Message("assistant", (ThinkPart("secret thought"), TextPart("running it")), (call,)),
        Message("tool", (TextPart("3 passed"),), tool_call_id="c"),
        answered("fine"), answered("really"),
    ]  # fmt: skip
    ask = Summariser()
    await LLMSummaryCompaction().compact(context_of(history, ask=ask))
    (question,) = ask.questions
    for words in ("[the user]\nlook", "(image)", "running it", "(calls Bash: make test)", "3 passed"):
        assert words in question
    assert "secret thought" not in question
    assert "AAAA" not in question


async def test_the_focus_reaches_the_model() -> None:
    ask = Summariser()
    history = [said("a"), answered("b"), said("c"), answered("d")]
    await LLMSummaryCompaction().compact(context_of(history, ask=ask, focus="the database schema"))
    assert "the database schema" in ask.questions[0]
    assert "summarise" in ask.system_prompts[0].lower()


async def test_an_earlier_summary_goes_into_the_next_one() -> None:
    history = [said(f"{SUMMARY_LEAD}\n\nuse tabs"), said("go"), *steps(4)]
    ask = Summariser()
    shorter = await LLMSummaryCompaction().compact(context_of(history, ask=ask, request=1))
    assert shorter is not None
    assert "use tabs" in ask.questions[0]
    assert sum(is_summary(message) for message in shorter) == 1


async def test_what_is_too_long_for_one_request_is_summarised_in_pieces() -> None:
    window = 4000
    history = [said("go"), *(answered(f"word{n}; " * 100) for n in range(100)), answered("end"), said("now")]
    ask = Summariser()
    shorter = await LLMSummaryCompaction().compact(context_of(history, ask=ask, window=window))
    assert shorter is not None
    assert len(ask.questions) > 5
    assert shorter[0].text.endswith(f"SUMMARY {len(ask.questions)}")
    for number, question in enumerate(ask.questions):
        assert estimated_tokens([said(question)]) < window // 2
        assert (f"SUMMARY {number}" in question) == (number > 0)
    everything = "".join(ask.questions)
    assert all(everything.count(f"word{n};") >= 100 for n in range(100))


async def test_one_message_longer_than_a_request_is_cut_into_pieces() -> None:
    history = [said("汉字" * 8000), answered("a"), answered("b"), said("now")]
    ask = Summariser()
    await LLMSummaryCompaction().compact(context_of(history, ask=ask, window=8000))
    assert len(ask.questions) > 4
    assert "".join(ask.questions).count("汉") >= 7990


async def test_a_model_that_finds_a_piece_too_long_gets_smaller_ones() -> None:
    ask = Summariser(ContextTooLong("too long", status_code=400), ContextTooLong("too long", status_code=400))
    history = [said("x" * 100_000), answered("a"), said("b"), answered("c")]
    shorter = await LLMSummaryCompaction().compact(context_of(history, ask=ask))
    assert shorter is not None
    first, second, third, *_ = map(len, ask.questions)
    assert first > second > third


async def test_a_model_that_finds_everything_too_long_fails_it() -> None:
    ask = Summariser(*(ContextTooLong("too long", status_code=400) for _ in range(100)))
    with pytest.raises(ContextTooLong):
        await LLMSummaryCompaction().compact(context_of([said("a"), *steps(5, size=5000)], ask=ask))


async def test_a_failure_of_the_model_is_the_callers() -> None:
    ask = Summariser(APIConnectionError("gone"))
    with pytest.raises(APIConnectionError):
        await LLMSummaryCompaction().compact(context_of([said("a"), *steps(5)], ask=ask))


async def test_newest_messages_that_fill_the_window_are_summarised_too() -> None:
    history = [said("go"), *steps(3), *step(8, "x" * 30_000, "y" * 30_000), *step(9, "z")]
    shorter = await LLMSummaryCompaction().compact(context_of(history, window=10_000))
    assert shorter is not None
    assert_sendable(shorter)
    assert list(shorter[1:]) == [history[0], *history[-2:]]
