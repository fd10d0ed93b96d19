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
"""`limited`: it ended at a limit of cost, time or steps. `stopped`: by the user, or since kimi-tui ended."""


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
    """Return `count` times the options of each combination. Empty ones are as in the session."""
    return tuple(
        AttemptOptions(prompt=prompt, model=model, thinking=level)
        for prompt, model, level in product(prompts or ("",), models or ("",), levels or (None,))
        for _ in range(count)
    )


@frozen(kw_only=True)
class StartAttempts(BaseCommand):
    """Start attempts from a checkpoint. Sends an AttemptList with every change, until all have ended.

    Neither the conversation nor the files of the session change.
    """

    scheduling = "concurrent"
    is_done_with_result = True

    attempts: tuple[AttemptOptions, ...]
    checkpoint: int | None = None
    """They continue just before this checkpoint; None for that of the last prompt."""
    check: str | None = None
    """Command that runs in the files of each attempt; empty for none, None for the one in `[checks]`."""
    max_cost_usd: float | None = None
    """Cost limit of all of them together."""
    max_time_s: float | None = None
    """Time limit of each."""
    max_steps: int | None = None
    """Limit of the model calls of each."""
    yolo: bool = False
    """Whether they need no approval, also if the session does."""


@frozen
class StopAttempts(BaseCommand):
    """Stop attempts that are running or waiting."""

    scheduling = "concurrent"

    numbers: tuple[int, ...] = ()
    """Empty for all."""


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
    """Only the diff of this file; empty for all files, of which the first ones have their diffs."""


@frozen
class DiscardAttempts(BaseCommand):
    """Stop and remove attempts. The reply is an AttemptList."""

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
    """Of these attempts, only these files. Of the others, all."""


@frozen
class AdoptAttempts(BaseCommand):
    """Make the changes of attempts to the files. Undo reverses it. The conversation doesn't change."""

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
    """Seconds since the epoch; 0 before it starts."""
    duration_s: float = 0.0
    """How long it ran; 0 while it runs."""
    cost_usd: float | None = None
    """None if the model has no price."""
    steps: int = 0
    last_message: str = ""
    problem: str = ""
    """Why it failed, was limited, or what it couldn't do."""
    check: str = ""
    """The command of the check; empty for none."""
    verdict: CheckVerdict | None = None
    """Result of the check; None if it didn't run."""
    check_output: str = ""
    """End of the check's output, unless it passed."""
    files: int = 0
    """Number of changed files."""
    added: int = 0
    removed: int = 0
    is_copy: bool = False
    """Whether it ran in a copy at another path, where nothing protects the working directory."""
    is_bounded: bool = False
    """Whether it couldn't change files outside of its workspace."""
    is_adopted: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it hasn't ended."""
        return self.state in ("waiting", "running", "checking")


@frozen
class AttemptList:
    """All attempts of the session, by number. Not in kimi-cli."""

    attempts: tuple[Attempt, ...] = ()
    is_requested: bool = False
    """Whether it is the reply to a command, rather than a change."""


@frozen
class AttemptChanges:
    """What an attempt changed since its checkpoint. Not in kimi-cli."""

    attempt: Attempt
    files: tuple[ComparedFile, ...] = ()
    path: str = ""
    """The file whose diff was requested; empty for all files."""
