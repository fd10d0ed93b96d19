"""Bisect: the search for the step that changed the result of a command."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand
from kimi_tui.wire.timeline import ComparedFile, TimelineNode

BisectVerdict = Literal["pass", "fail", "skip"]
"""Result of a run. `pass`: exit code 0. `skip`: exit code 125, for an inconclusive run. `fail`: any other
exit code.
"""
BisectOutcome = Literal[
    "pass_to_fail", "fail_to_pass", "always_fails", "always_passes", "always_skips", "stopped"
]


@frozen
class Bisect(BaseCommand):
    """Find the step that made `command` fail, or pass. Sends BisectProgress, then a BisectResult.

    The command runs in private copies of the files. The engine handles other Wire commands during the search.
    """

    scheduling = "concurrent"
    is_done_with_result = True

    command: str


@frozen
class StopBisect(BaseCommand):
    """Stop the running search, which then sends a BisectResult with the outcome `stopped`."""

    scheduling = "concurrent"


@frozen
class SendBisectResult(BaseCommand):
    """Send the result of the last search to the model, as a prompt."""


BisectCommand = Bisect | StopBisect | SendBisectResult


@frozen(kw_only=True)
class BisectProgress:
    """The bisect command has completed another run. Not in kimi-cli."""

    command: str
    checkpoint: int | None
    """The command ran on the files just before this checkpoint; None for the current files."""
    verdict: BisectVerdict
    runs: int
    """Number of completed runs."""
    max_runs: int
    """Maximum number of runs, unless a run is skipped or the command is flaky."""
    is_flaky: bool = False
    """Whether results differ for the same files. Then the command runs three times for each checkpoint."""


@frozen(kw_only=True)
class BisectResult:
    """Result of a search. Not in kimi-cli."""

    command: str
    outcome: BisectOutcome
    runs: int
    step: TimelineNode | None = None
    """The step that changed the result. If the result never changed, the oldest checkpoint that was tried."""
    until: int | None = None
    """The checkpoint after the step, or after `suspects`; None for the current files."""
    suspects: tuple[int, ...] = ()
    """If the command skipped checkpoints, the steps that may have changed the result, `step` first."""
    prompt: str = ""
    """The user's prompt that the step belongs to."""
    files: tuple[ComparedFile, ...] = ()
    """Files that the step changed, without diffs."""
    diff: str = ""
    """Beginning of the unified diff of `files`."""
    has_more_diff: bool = False
    output: str = ""
    """End of the command's output at the checkpoint where it failed."""
    is_flaky: bool = False
    is_copy: bool = False
    """Whether the command ran in copies at another path."""

    @property
    def has_found_step(self) -> bool:
        """Whether a step changed the result."""
        return self.outcome in ("pass_to_fail", "fail_to_pass")
