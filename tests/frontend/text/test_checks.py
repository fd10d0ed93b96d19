"""Text of checks: only changes of the result are shown in the conversation."""

import pytest

from kimi_tui.frontend.text.checks import check_result_text, step_check_line
from kimi_tui.wire.checks import CheckChange, CheckResult, StepCheck


def result(change: CheckChange, **more: object) -> CheckResult:
    values = {"checkpoint": 7, "label": "EditFile a.py", "command": "pytest -q", "verdict": "fail"}
    return CheckResult(change=change, **{**values, **more})  # type: ignore[arg-type]


def test_a_first_failure_names_the_step_and_ends_with_the_output() -> None:
    text = check_result_text(result("began_to_fail", output="one\ntwo \x1b[31mred"))
    assert text == ("✔ → ✗ “pytest -q” has failed since step 7.", "Step: EditFile a.py\none\ntwo red")


def test_a_result_that_is_the_same_is_not_shown() -> None:
    assert check_result_text(result("")) == ("", "")


def test_an_earlier_failure_blames_no_step() -> None:
    heading, body = check_result_text(result("failed_before", output="one"))
    assert (heading, body) == ("✗ “pytest -q” already failed before the first step.", "")


@pytest.mark.parametrize(
    ("check", "line"),
    [
        (StepCheck("pass", command="pytest", duration_s=1.5), "✔ “pytest” passes · 1.5 s"),
        (
            StepCheck("fail", is_first_failure=True, command="pytest", duration_s=70),
            "✗ “pytest” has failed since this step · 1 min 10 s",
        ),
        (StepCheck("running", command="pytest"), "… “pytest” is running"),
    ],
)
def test_the_details_of_a_step_show_its_check(check: StepCheck, line: str) -> None:
    assert step_check_line(check) == line
