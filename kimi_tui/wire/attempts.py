"""Attempts: runs from one checkpoint with other models or prompts, each in a workspace."""

from collections.abc import Sequence
from itertools import product
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.thinking_effort import ThinkingEffort
from kimi_tui.wire.base_command import BaseCommand
from kimi_tui.wire.checks import CheckVerdict
from kimi_tui.wire.timeline import ComparedFile, FileChoice

AttemptState = Literal["waiting", "running", "checking", "finished", "failed", "limited", "stopped"]
"""`limited`: the attempt reached a limit of cost, time or steps. `stopped`: the user stopped the attempt, or
kimi-tui exited.
"""


@frozen(kw_only=True)
class AttemptOptions:
    """Options of one attempt."""

    prompt: str = ""
    """Empty for the prompt at the checkpoint."""
    model: str = ""
    """Name under `[models]`; empty for the session's model."""
    thinking: ThinkingEffort | None = None
    """None for the session's thinking level."""


def combine_options(
    *,
    prompts: Sequence[str] = (),
    models: Sequence[str] = (),
    levels: Sequence[ThinkingEffort] = (),
    count: int = 1,
) -> tuple[AttemptOptions, ...]:
    """Return the options of `count` attempts per combination of prompt, model and thinking level.

    If `prompts`, `models` or `levels` is empty, the attempts use the session's value instead.
    """
    return tuple(
        AttemptOptions(prompt=prompt, model=model, thinking=level)
        for prompt, model, level in product(prompts or ("",), models or ("",), levels or (None,))
        for _ in range(count)
    )


@frozen(kw_only=True)
class StartAttempts(BaseCommand):
    """Start attempts from a checkpoint. Sends an AttemptList after each change until all attempts have ended.

    The conversation and the files of the session don't change.
    """

    scheduling = "concurrent"
    is_done_with_result = True

    attempts: tuple[AttemptOptions, ...]
    checkpoint: int | None = None
    """Start just before this checkpoint; None for the checkpoint of the last prompt."""
    check: str | None = None
    """Check command for the files of each attempt. Empty for no check; None for the command in `[checks]`."""
    max_cost_usd: float | None = None
    """Cost limit of all attempts together, in US dollars."""
    max_time_s: float | None = None
    """Time limit of each attempt, in seconds; None for the limit in `[attempts]`."""
    max_steps: int | None = None
    """Maximum number of model calls per attempt."""
    yolo: bool = False
    """Whether to approve everything automatically, even if the session requires approval."""


@frozen
class StopAttempts(BaseCommand):
    """Stop attempts that are running or waiting."""

    scheduling = "concurrent"

    numbers: tuple[int, ...] = ()
    """Numbers of the attempts; empty for all."""


@frozen
class ListAttempts(BaseCommand):
    """List the attempts. The reply is an AttemptList."""

    scheduling = "concurrent"


@frozen
class ReadAttempt(BaseCommand):
    """Show what an attempt changed. The reply is an AttemptChanges."""

    scheduling = "concurrent"

    number: int
    path: str = ""
    """Show only this file's diff. Empty for all files; then only the first files include diffs."""


@frozen
class DiscardAttempts(BaseCommand):
    """Stop attempts and remove them. The reply is an AttemptList."""

    scheduling = "concurrent"

    numbers: tuple[int, ...] = ()
    """Empty for all."""


@frozen
class AttemptFiles:
    """Some of the files that an attempt changed."""

    number: int
    paths: tuple[str, ...]


@frozen
class PlanAdoption(BaseCommand):
    """Preview what adopting attempts would change. The reply is a RevertPlan with the reason `adopt`."""

    scheduling = "plan"

    numbers: tuple[int, ...]
    files: tuple[AttemptFiles, ...] = ()
    """Files to adopt from some of the attempts. All files of the other attempts are adopted."""


@frozen
class AdoptAttempts(BaseCommand):
    """Apply the changes of attempts to the files. Undo reverts them. The conversation doesn't change."""

    scheduling = "revert"
    needs_idle = True

    numbers: tuple[int, ...]
    paths: tuple[str, ...] | None = None
    """As in Revert."""
    choices: tuple[FileChoice, ...] = ()
    """As in Revert."""
    files: tuple[AttemptFiles, ...] = ()
    """As in PlanAdoption."""


AttemptCommand = (
    StartAttempts | StopAttempts | ListAttempts | ReadAttempt | DiscardAttempts | PlanAdoption | AdoptAttempts
)


@frozen(kw_only=True)
class Attempt:
    """One attempt."""

    number: int
    checkpoint: int
    prompt: str
    model: str
    """Empty for the session's default model."""
    thinking: ThinkingEffort
    state: AttemptState
    started: float = 0.0
    """Start time in seconds since the epoch; 0 before the attempt starts."""
    duration_s: float = 0.0
    """Duration in seconds; 0 until the attempt has ended."""
    cost_usd: float | None = None
    """None if the model has no price."""
    steps: int = 0
    last_message: str = ""
    problem: str = ""
    """Why the attempt failed or reached a limit, or which part of the attempt failed."""
    check: str = ""
    """The check command; empty for no check."""
    verdict: CheckVerdict | None = None
    """Result of the check; None if the check didn't run."""
    check_output: str = ""
    """End of the check's output; empty if the check passed."""
    files: int = 0
    """Number of changed files."""
    added: int = 0
    removed: int = 0
    is_copy: bool = False
    """Whether the attempt ran in a copy at another path. Then nothing protects the working directory."""
    is_bounded: bool = False
    """Whether the attempt was prevented from changing files outside of its workspace."""
    is_adopted: bool = False

    @property
    def is_active(self) -> bool:
        """Whether the attempt hasn't ended."""
        return self.state in ("waiting", "running", "checking")


@frozen
class AttemptList:
    """All attempts of the session, by number. Not in kimi-cli."""

    attempts: tuple[Attempt, ...] = ()
    is_requested: bool = False
    """Whether the list is the reply to a command. Otherwise an attempt has changed."""


@frozen
class AttemptChanges:
    """Changes of an attempt since its checkpoint. Not in kimi-cli."""

    attempt: Attempt
    files: tuple[ComparedFile, ...] = ()
    path: str = ""
    """The file whose diff was requested; empty for all files."""
