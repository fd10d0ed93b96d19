"""Message histories that can always be sent."""

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, system_note
from kimi_tui.base.message import Message, user_message
from kimi_tui.history.message_history import (
    complete_tool_results,
    interrupted_result,
    is_note,
    message_with_results,
)
from kimi_tui.history.token_estimate import TOKENS_PER_MEDIUM, estimate_tokens
from tests.history.messages import assert_sendable, assistant_calls, assistant_message, tool_result


def test_a_complete_history_stays_unchanged():
    messages = [
        user_message("hi"),
        assistant_calls("", "a", "b"),
        tool_result("a", "1"),
        tool_result("b", "2"),
        assistant_message("done"),
    ]
    assert complete_tool_results(messages) == messages


def test_results_are_put_in_the_order_of_their_calls():
    response = assistant_calls("", "a", "b", "c")
    assert complete_tool_results(
        [response, tool_result("c", "3"), tool_result("a", "1"), tool_result("b", "2")]
    ) == [
        response,
        tool_result("a", "1"),
        tool_result("b", "2"),
        tool_result("c", "3"),
    ]


def test_a_call_without_a_result_counts_as_interrupted():
    response = assistant_calls("", "a", "b")
    messages = complete_tool_results([response, tool_result("b", "2"), user_message("go on")])
    assert messages == [
        response,
        interrupted_result(response.tool_calls[0]),
        tool_result("b", "2"),
        user_message("go on"),
    ]


def test_results_without_a_call_and_duplicates_are_dropped():
    response = assistant_calls("", "a")
    messages = [
        tool_result("x", "?"),
        response,
        tool_result("a", "1"),
        tool_result("a", "again"),
        user_message("hi"),
        tool_result("a", "late"),
    ]
    assert complete_tool_results(messages) == [response, tool_result("a", "1"), user_message("hi")]


def test_call_ids_may_repeat_in_later_messages():
    messages = [
        assistant_calls("first", "call_0"),
        tool_result("call_0", "1"),
        assistant_calls("second", "call_0"),
        tool_result("call_0", "2"),
    ]
    assert complete_tool_results(messages) == messages


def test_a_step_gets_missing_results_from_finished_ones():
    response = assistant_calls("", "a", "b", "c")
    messages = message_with_results(response, [tool_result("b", "2")], finished=[tool_result("a", "1")])
    assert messages == [
        response,
        tool_result("a", "1"),
        tool_result("b", "2"),
        interrupted_result(response.tool_calls[2]),
    ]
    assert_sendable(messages)


def test_a_step_rejects_a_result_of_an_unknown_call():
    with pytest.raises(ValueError, match="'b'"):
        message_with_results(assistant_calls("", "a"), [tool_result("b", "2")])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ((system_note("CHECKPOINT 1"),), True),
        ((system_note("a"), system_note("b")), True),
        ((system_note("a"), TextPart("and mine")), False),
        ((TextPart("fix it"),), False),
        ((ImageURLPart(MediaURL("data:")),), False),
    ],
)
def test_notes_of_the_program_are_not_prompts(content, expected):
    assert is_note(Message("user", content)) is expected


def test_an_estimate_counts_texts_in_any_script_calls_and_media():
    assert estimate_tokens([user_message("x" * 400)]) == 100
    assert estimate_tokens([user_message("汉" * 400)]) == 300
    assert (
        estimate_tokens([Message("user", (ImageURLPart(MediaURL("data:" + "x" * 9999)),))])
        == TOKENS_PER_MEDIUM
    )
    assert estimate_tokens([assistant_calls("", "a")]) > 0
    assert estimate_tokens([]) == 0
