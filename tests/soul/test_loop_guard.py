"""Loop guard: what counts as repetition, and its warnings and limit."""

import pytest

from kimi_tui.base.errors import LimitReached
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.soul.limits import LoopLimits
from kimi_tui.soul.loop_guard import LoopGuard
from kimi_tui.tools.tool import success
from kimi_tui.wire.events import ToolReturn

LIMITS = LoopLimits(warn_after=3, stop_after=5)


def tool_result(name: str, arguments: str = "{}", result: str = "same") -> tuple[ToolCall, ToolReturn]:
    return ToolCall("c", FunctionCall(name, arguments)), success(result)


def has_warnings(guard: LoopGuard, *steps: list[tuple[ToolCall, ToolReturn]]) -> list[bool]:
    """Return whether the model is warned, for each step."""
    return [bool(guard.record_step(step)) for step in steps]


def test_a_repeated_call_with_the_same_result_is_warned_about_then_stopped() -> None:
    guard = LoopGuard(LIMITS)
    step = [tool_result("Bash", '{"command": "pytest"}')]
    assert has_warnings(guard, step, step, step, step) == [False, False, True, True]
    guard.check()
    guard.record_step(step)
    with pytest.raises(LimitReached, match=r"the same step 5 times .*Bash .*pytest"):
        guard.check()


def test_the_warning_names_the_call_and_the_count() -> None:
    guard = LoopGuard(LIMITS)
    step = [tool_result("Bash", '{"command": "pytest"}')]
    warning = [guard.record_step(step) for _ in range(3)][-1]
    assert "3 times" in warning
    assert 'Bash {"command": "pytest"}' in warning


def test_arguments_that_differ_only_in_formatting_are_the_same() -> None:
    one, other = tool_result("Grep", '{"a": 1, "b": 2}'), tool_result("Grep", '{ "b":2,"a":1 }')
    assert has_warnings(LoopGuard(LIMITS), [one], [other], [one]) == [False, False, True]


def test_polling_output_that_changes_is_not_repetition() -> None:
    guard = LoopGuard(LIMITS)
    assert has_warnings(guard, *([tool_result("TaskOutput", result=str(n))] for n in range(9))) == [False] * 9
    guard.check()


def test_the_same_tests_between_different_edits_are_not_repetition() -> None:
    guard = LoopGuard(LIMITS)
    for n in range(9):
        assert has_warnings(guard, [tool_result("EditFile", f'{{"n": {n}}}')], [tool_result("Bash")]) == [
            False,
            False,
        ]
    guard.check()


def test_rereading_old_files_is_not_repetition() -> None:
    guard = LoopGuard(LIMITS)
    files = [[tool_result("ReadFile", f'{{"path": "{n}"}}')] for n in range(9)]
    assert has_warnings(guard, *files, *files) == [False] * 18
    guard.check()


def test_running_in_a_circle_is_repetition() -> None:
    guard = LoopGuard(LIMITS)
    one, other = [tool_result("EditFile", "1")], [tool_result("EditFile", "2")]
    assert has_warnings(guard, one, other, one, other, one, other)[-2:] == [True, True]


def test_the_order_of_calls_in_a_step_does_not_matter() -> None:
    guard = LoopGuard(LIMITS)
    step = [tool_result("ReadFile", "1"), tool_result("ReadFile", "2")]
    assert has_warnings(guard, step, step[::-1], step) == [False, False, True]


def test_a_reset_starts_the_count_over() -> None:
    guard = LoopGuard(LIMITS)
    step = [tool_result("Bash")]
    has_warnings(guard, step, step)
    guard.reset()
    assert has_warnings(guard, step, step) == [False, False]


def test_nothing_is_counted_without_a_limit() -> None:
    guard = LoopGuard(LoopLimits())
    assert has_warnings(guard, *([tool_result("Bash")] for _ in range(99))) == [False] * 99
    guard.check()
