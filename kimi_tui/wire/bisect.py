"""Bisect: the search for the step that changed the result of a command."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand
from kimi_tui.wire.timeline import ComparedFile, TimelineNode

BisectVerdict = Literal["pass", "fail", "skip"]
"""Result of a run: exit code 0, another one, or 125, which can't tell."""
BisectOutcome = Literal[
    "pass_to_fail", "fail_to_pass", "always_fails", "always_passes", "always_skips", "stopped"
]


@frozen
class Bisect(BaseCommand):
    """Find the step that made `command` fail, or pass. Sends BisectProgress, then a BisectResult.

    The command runs in private copies of the files, while other commands are handled.
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
    """The command has run once more. Not in kimi-cli."""

    command: str
    checkpoint: int | None
    """Where it ran: just before this checkpoint; None for the current files."""
    verdict: BisectVerdict
    runs: int
    """How often it has run."""
    max_runs: int
    """How often it will run at most, unless it skips or is flaky."""
    is_flaky: bool = False
    """Whether its results differ for the same files. Then it runs three times for each checkpoint."""


@frozen(kw_only=True)
class BisectResult:
    """Result of a search. Not in kimi-cli."""

    command: str
    outcome: BisectOutcome
    runs: int
    step: TimelineNode | None = None
    """The step that changed the result. Without a change, the oldest checkpoint that was tried."""
    until: int | None = None
    """The checkpoint after the step, or after `suspects`; None for the current files."""
    suspects: tuple[int, ...] = ()
    """If the command skipped checkpoints, the steps that may have changed the result, `step` first."""
    prompt: str = ""
    """The user's prompt that the step belongs to."""
    files: tuple[ComparedFile, ...] = ()
    """What the step changed, without diffs."""
    diff: str = ""
    """Beginning of the unified diff of `files`."""
    has_more_diff: bool = False
    output: str = ""
    """End of the command's output where it failed."""
    is_flaky: bool = False
    is_copy: bool = False
    """Whether the command ran in copies at another path."""

    @property
    def has_found_step(self) -> bool:
        """Whether a step changed the result."""
        return self.outcome in ("pass_to_fail", "fail_to_pass")
