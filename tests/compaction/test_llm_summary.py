"""Summaries by a model."""

import pytest

from kimi_tui.base.compaction_markers import SUMMARY_PREFIX, is_summary
from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import APIConnectionError, ContextTooLong
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.compaction.llm_summary import LLMSummaryCompaction
from kimi_tui.history.token_estimate import estimate_tokens
from tests.compaction.conversations import (
    FakeSummarizer,
    assert_sendable,
    assistant,
    build_context,
    note,
    tool_step,
    tool_steps,
    user,
)


async def test_the_summary_comes_first_with_its_prefix() -> None:
    history = [user("hello"), assistant("hi"), user("do it"), assistant("done")]
    shorter = await LLMSummaryCompaction().compact(build_context(history))
    assert shorter is not None
    assert shorter[0].text == f"{SUMMARY_PREFIX}\n\nSUMMARY 1"
    assert shorter[0].role == "user"
    assert list(shorter[1:]) == history[2:]


async def test_a_call_is_never_separated_from_its_results() -> None:
    history = [
        user("go"),
        *tool_steps(3),
        *tool_step(7, "a", "b", "c"),
        assistant("so"),
        *tool_step(9, "d", "e"),
    ]
    shorter = await LLMSummaryCompaction().compact(build_context(history))
    assert shorter is not None
    assert_sendable(shorter)
    assert list(shorter[1:]) == [history[0], *history[-4:]]


async def test_notes_from_the_program_do_not_count_as_messages() -> None:
    history = [user("go"), *tool_steps(3), assistant("a"), note("x"), assistant("b"), note("y"), note("z")]
    shorter = await LLMSummaryCompaction().compact(build_context(history))
    assert shorter is not None
    assert list(shorter[1:]) == [history[0], *history[-5:]]


async def test_the_users_messages_of_this_turn_are_kept_verbatim() -> None:
    history = [
        user("old"),
        assistant("ok"),
        user("fix it"),
        *tool_steps(2),
        user("in French"),
        *tool_steps(4),
    ]
    shorter = await LLMSummaryCompaction().compact(build_context(history, request=2))
    assert shorter is not None
    assert [message.text for message in shorter if message.role == "user"][1:] == ["fix it", "in French"]


@pytest.mark.parametrize(
    "history",
    [
        [],
        [user("hi")],
        [user("hi"), assistant("hello")],
        [user(f"{SUMMARY_PREFIX}\n\nold"), user("hi"), assistant("hello")],
        [note("CHECKPOINT 0"), user("hi"), *tool_step(1, "r")],
    ],
    ids=len,
)
async def test_without_older_messages_there_is_nothing_to_do(history: list[Message]) -> None:
    ask = FakeSummarizer()
    assert await LLMSummaryCompaction().compact(build_context(history, ask=ask)) is None
    assert not ask.questions


async def test_the_model_gets_the_messages_without_thinking() -> None:
    call = ToolCall("c", FunctionCall("Bash", '{"timeout": 3, "command": "make test"}'))
    history = [
        user_message((TextPart("look"), ImageURLPart(MediaURL("data:image/png;base64,AAAA")))),
        Message("assistant", (ThinkPart("secret thought"), TextPart("running it")), (call,)),
        Message("tool", (TextPart("3 passed"),), tool_call_id="c"),
        assistant("fine"), assistant("really"),
    ]  # fmt: skip
    ask = FakeSummarizer()
    await LLMSummaryCompaction().compact(build_context(history, ask=ask))
    (question,) = ask.questions
    for text in ("[the user]\nlook", "(image)", "running it", "(calls Bash: make test)", "3 passed"):
        assert text in question
    assert "secret thought" not in question
    assert "AAAA" not in question


async def test_the_model_gets_the_focus() -> None:
    ask = FakeSummarizer()
    history = [user("a"), assistant("b"), user("c"), assistant("d")]
    await LLMSummaryCompaction().compact(build_context(history, ask=ask, focus="the database schema"))
    assert "the database schema" in ask.questions[0]
    assert "summarize" in ask.system_prompts[0].lower()


async def test_an_earlier_summary_is_part_of_the_next_one() -> None:
    history = [user(f"{SUMMARY_PREFIX}\n\nuse tabs"), user("go"), *tool_steps(4)]
    ask = FakeSummarizer()
    shorter = await LLMSummaryCompaction().compact(build_context(history, ask=ask, request=1))
    assert shorter is not None
    assert "use tabs" in ask.questions[0]
    assert sum(is_summary(message) for message in shorter) == 1


async def test_a_conversation_too_long_for_one_request_is_summarized_in_chunks() -> None:
    window = 4000
    history = [
        user("go"),
        *(assistant(f"word{n}; " * 100) for n in range(100)),
        assistant("end"),
        user("now"),
    ]
    ask = FakeSummarizer()
    shorter = await LLMSummaryCompaction().compact(build_context(history, ask=ask, window=window))
    assert shorter is not None
    assert len(ask.questions) > 5
    assert shorter[0].text.endswith(f"SUMMARY {len(ask.questions)}")
    for number, question in enumerate(ask.questions):
        assert estimate_tokens([user(question)]) < window // 2
        assert (f"SUMMARY {number}" in question) == (number > 0)
    all_questions = "".join(ask.questions)
    assert all(all_questions.count(f"word{n};") >= 100 for n in range(100))


async def test_a_message_too_long_for_one_request_is_split() -> None:
    history = [user("汉字" * 8000), assistant("a"), assistant("b"), user("now")]
    ask = FakeSummarizer()
    await LLMSummaryCompaction().compact(build_context(history, ask=ask, window=8000))
    assert len(ask.questions) > 4
    assert "".join(ask.questions).count("汉") >= 7990


async def test_a_chunk_rejected_as_too_long_is_split() -> None:
    ask = FakeSummarizer(
        ContextTooLong("too long", status_code=400), ContextTooLong("too long", status_code=400)
    )
    history = [user("x" * 100_000), assistant("a"), user("b"), assistant("c")]
    shorter = await LLMSummaryCompaction().compact(build_context(history, ask=ask))
    assert shorter is not None
    first, second, third, *_ = map(len, ask.questions)
    assert first > second > third


async def test_a_model_that_rejects_every_size_fails_the_compaction() -> None:
    ask = FakeSummarizer(*(ContextTooLong("too long", status_code=400) for _ in range(100)))
    with pytest.raises(ContextTooLong):
        await LLMSummaryCompaction().compact(build_context([user("a"), *tool_steps(5, size=5000)], ask=ask))


async def test_an_error_of_the_model_is_raised() -> None:
    ask = FakeSummarizer(APIConnectionError("gone"))
    with pytest.raises(APIConnectionError):
        await LLMSummaryCompaction().compact(build_context([user("a"), *tool_steps(5)], ask=ask))


async def test_recent_messages_that_fill_the_context_window_are_summarized() -> None:
    history = [user("go"), *tool_steps(3), *tool_step(8, "x" * 30_000, "y" * 30_000), *tool_step(9, "z")]
    shorter = await LLMSummaryCompaction().compact(build_context(history, window=10_000))
    assert shorter is not None
    assert_sendable(shorter)
    assert list(shorter[1:]) == [history[0], *history[-2:]]
