"""Checks: the results of the configured command after the steps that changed files. Not in kimi-cli."""

from typing import Literal

from kimi_tui.base.frozen import frozen

CheckVerdict = Literal["pass", "fail", "skip"]
"""Result of a run: exit code 0, another one or a timeout, or 125 for an inconclusive run."""
CheckState = Literal["running", "pass", "fail", "skip"]
CheckChange = Literal["began_to_fail", "passes_again", "failed_before", ""]
"""How a result differs from that of the last checked step before it; empty if it is the same.

`failed_before`: the check already fails with the files before the first step that changed some. It corrects a
`began_to_fail` of a later step.
"""


@frozen
class StepCheck:
    """The check of a step, as the timeline shows it."""

    state: CheckState
    is_first_failure: bool = False
    """Whether the check fails here, but not at the last checked step before it."""
    is_provisional: bool = False
    """Whether files changed while the command ran, so that it may have seen some of these changes."""
    command: str = ""
    duration_s: float = 0.0


@frozen(kw_only=True)
class CheckResult:
    """The check has run in the files as a step left them."""

    checkpoint: int
    """The step: the checkpoint before it."""
    label: str
    """What the step did."""
    command: str
    verdict: CheckVerdict
    change: CheckChange = ""
    is_provisional: bool = False
    timed_out: bool = False
    duration_s: float = 0.0
    output: str = ""
    """End of the command's output, unless it passed."""
