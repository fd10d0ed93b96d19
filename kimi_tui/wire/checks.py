"""Checks: the results of the configured command after the steps that changed files. Not in kimi-cli."""

from typing import Literal

from kimi_tui.base.frozen import frozen

CheckVerdict = Literal["pass", "fail", "skip"]
"""Result of a run. `pass`: exit code 0. `skip`: exit code 125, for an inconclusive run. `fail`: any other
exit code, or a timeout.
"""
CheckState = Literal["running", "pass", "fail", "skip"]
CheckChange = Literal["began_to_fail", "passes_again", "failed_before", ""]
"""How a result differs from the result of the previous checked step; empty if both are the same.

`failed_before`: the check already failed before the first step that changed files. This result corrects a
`began_to_fail` of a later step.
"""


@frozen
class StepCheck:
    """The check of a step, as the timeline shows it."""

    state: CheckState
    is_first_failure: bool = False
    """Whether the check fails at this step but not at the previous checked step."""
    is_provisional: bool = False
    """Whether files changed while the command ran. The command may have seen some of these changes."""
    command: str = ""
    duration_s: float = 0.0


@frozen(kw_only=True)
class CheckResult:
    """The check has run on the files as a step left them."""

    checkpoint: int
    """The step: the checkpoint before it."""
    label: str
    """Short description of the step."""
    command: str
    verdict: CheckVerdict
    change: CheckChange = ""
    is_provisional: bool = False
    timed_out: bool = False
    duration_s: float = 0.0
    output: str = ""
    """End of the command's output; empty if the check passed."""
