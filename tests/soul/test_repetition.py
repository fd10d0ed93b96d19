"""The repetition guard: what counts as the same again, and what comes of it."""

import pytest

from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.soul.limits import LimitReached, RepetitionLimits
from kimi_tui.soul.repetition import Repetition
from kimi_tui.tools.tool import ok
from kimi_tui.wire.events import ToolReturn

LIMITS = RepetitionLimits(told_after=3, stopped_after=5)


def done(name: str, arguments: str = "{}", result: str = "same") -> tuple[ToolCall, ToolReturn]:
    return ToolCall("c", FunctionCall(name, arguments)), ok(result)


def words(guard: Repetition, *steps: list[tuple[ToolCall, ToolReturn]]) -> list[bool]:
    """For each step, whether the model is told of it."""
    return [bool(guard.look_at(step)) for step in steps]


def test_the_same_call_with_the_same_result_is_pointed_out_then_stopped() -> None:
    guard = Repetition(LIMITS)
    step = [done("Bash", '{"command": "pytest"}')]
    assert words(guard, step, step, step, step) == [False, False, True, True]
    guard.check()
    guard.look_at(step)
    with pytest.raises(LimitReached, match=r"the same 5 times .*Bash .*pytest"):
        guard.check()


def test_the_note_says_what_and_how_often() -> None:
    guard = Repetition(LIMITS)
    step = [done("Bash", '{"command": "pytest"}')]
    told = [guard.look_at(step) for _ in range(3)][-1]
    assert "3 times" in told
    assert 'Bash {"command": "pytest"}' in told


def test_arguments_written_otherwise_are_the_same() -> None:
    one, other = done("Grep", '{"a": 1, "b": 2}'), done("Grep", '{ "b":2,"a":1 }')
    assert words(Repetition(LIMITS), [one], [other], [one]) == [False, False, True]


def test_waiting_for_output_that_changes_is_no_repetition() -> None:
    guard = Repetition(LIMITS)
    assert words(guard, *([done("TaskOutput", result=str(n))] for n in range(9))) == [False] * 9
    guard.check()


def test_the_same_tests_between_different_edits_are_no_repetition() -> None:
    guard = Repetition(LIMITS)
    for n in range(9):
        assert words(guard, [done("EditFile", f'{{"n": {n}}}')], [done("Bash")]) == [False, False]
    guard.check()


def test_reading_again_what_was_read_long_ago_is_no_repetition() -> None:
    guard = Repetition(LIMITS)
    files = [[done("ReadFile", f'{{"path": "{n}"}}')] for n in range(9)]
    assert words(guard, *files, *files) == [False] * 18
    guard.check()


def test_going_round_in_a_circle_is_one() -> None:
    guard = Repetition(LIMITS)
    one, other = [done("EditFile", "1")], [done("EditFile", "2")]
    assert words(guard, one, other, one, other, one, other)[-2:] == [True, True]


def test_several_calls_of_a_step_are_seen_as_one() -> None:
    guard = Repetition(LIMITS)
    step = [done("ReadFile", "1"), done("ReadFile", "2")]
    assert words(guard, step, step[::-1], step) == [False, False, True]


def test_a_new_turn_begins_anew() -> None:
    guard = Repetition(LIMITS)
    step = [done("Bash")]
    words(guard, step, step)
    guard.begin()
    assert words(guard, step, step) == [False, False]


def test_nothing_is_counted_where_there_is_no_limit() -> None:
    guard = Repetition(RepetitionLimits())
    assert words(guard, *([done("Bash")] for _ in range(99))) == [False] * 99
    guard.check()
