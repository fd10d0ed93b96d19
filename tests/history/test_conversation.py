"""Conversations that can always be sent."""

import pytest

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, system_note
from kimi_tui.base.message import Message, user_message
from kimi_tui.history.conversation import exchange, interrupted_result, is_note, sendable
from kimi_tui.history.estimate import TOKENS_PER_MEDIUM, estimated_tokens
from tests.history.words import asks, assert_sendable, gives, says


def test_what_can_be_sent_stays_as_it_is():
    messages = [user_message("hi"), asks("", "a", "b"), gives("a", "1"), gives("b", "2"), says("done")]
    assert sendable(messages) == messages


def test_results_are_put_in_the_order_of_their_calls():
    said = asks("", "a", "b", "c")
    assert sendable([said, gives("c", "3"), gives("a", "1"), gives("b", "2")]) == [
        said,
        gives("a", "1"),
        gives("b", "2"),
        gives("c", "3"),
    ]


def test_a_call_without_a_result_counts_as_interrupted():
    said = asks("", "a", "b")
    messages = sendable([said, gives("b", "2"), user_message("go on")])
    assert messages == [
        said,
        interrupted_result(said.tool_calls[0]),
        gives("b", "2"),
        user_message("go on"),
    ]


def test_results_without_a_call_and_second_results_are_dropped():
    said = asks("", "a")
    messages = [
        gives("x", "?"),
        said,
        gives("a", "1"),
        gives("a", "again"),
        user_message("hi"),
        gives("a", "late"),
    ]
    assert sendable(messages) == [said, gives("a", "1"), user_message("hi")]


def test_ids_that_a_server_uses_again_are_told_apart_by_their_message():
    messages = [asks("first", "call_0"), gives("call_0", "1"), asks("second", "call_0"), gives("call_0", "2")]
    assert sendable(messages) == messages


def test_a_step_gets_its_missing_results_from_what_was_noted():
    said = asks("", "a", "b", "c")
    messages = exchange(said, [gives("b", "2")], finished=[gives("a", "1")])
    assert messages == [said, gives("a", "1"), gives("b", "2"), interrupted_result(said.tool_calls[2])]
    assert_sendable(messages)


def test_a_step_takes_no_result_of_a_call_that_it_does_not_have():
    with pytest.raises(ValueError, match="'b'"):
        exchange(asks("", "a"), [gives("b", "2")])


@pytest.mark.parametrize(
    ("content", "by_the_program"),
    [
        ((system_note("CHECKPOINT 1"),), True),
        ((system_note("a"), system_note("b")), True),
        ((system_note("a"), TextPart("and mine")), False),
        ((TextPart("fix it"),), False),
        ((ImageURLPart(MediaURL("data:")),), False),
    ],
)
def test_notes_of_the_program_are_told_from_the_users_words(content, by_the_program):
    assert is_note(Message("user", content)) is by_the_program


def test_an_estimate_counts_texts_in_any_script_calls_and_media():
    assert estimated_tokens([user_message("x" * 400)]) == 100
    assert estimated_tokens([user_message("汉" * 400)]) == 300
    assert (
        estimated_tokens([Message("user", (ImageURLPart(MediaURL("data:" + "x" * 9999)),))])
        == TOKENS_PER_MEDIUM
    )
    assert estimated_tokens([asks("", "a")]) > 0
    assert estimated_tokens([]) == 0
