"""Interface through which tools ask for consent."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.effect_review import EffectReview, PathChange
from kimi_tui.permission.subject import CommandSubject, Subject
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.command_effects import CommandEffects
from kimi_tui.wire.display_blocks import DisplayBlock
from kimi_tui.wire.requests import Proposal


class ToolRejected(Exception):
    """Raised if the user rejects a call. With feedback, the turn continues; without it, the turn ends."""

    def __init__(self, feedback: str = "", *, ends_turn: bool | None = None) -> None:
        super().__init__(feedback or "rejected by the user")
        self.feedback = feedback
        self.ends_turn = not feedback if ends_turn is None else ends_turn


CommandMode = Literal["ask", "trial", "discard"]
"""How a command runs.

- `ask`: when it is approved, which a rule may do
- `trial`: immediately, in a workspace; then its effects are approved
- `discard`: immediately, in a workspace; its effects are always discarded
"""


@frozen
class EffectsAnswer:
    """What to do with the effects of a command."""

    action: Literal["commit", "run_directly"]
    edited: str | None = None
    """With `run_directly`: the command that the user has written instead; None for the same one."""


@frozen(kw_only=True)
class TrialSummary:
    """What the user sees of a command that has run in a workspace."""

    description: str
    effects: CommandEffects
    display: tuple[DisplayBlock, ...]


class Approval(Protocol):
    """Gets consent for calls: from yolo mode, from a rule, or from the user."""

    def may_read(self, path: Path, *, within: Path | None = None) -> bool:
        """Return whether the rules allow reading `path` (absolute, links resolved) without asking.

        `within` is a directory that the user lets the model read; rules for single files in it still apply.
        """
        ...

    async def request(
        self,
        call: CallContext,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
        reason: str = "",
    ) -> str | None:
        """Return once `subject` is approved exactly as described. Raises ToolRejected if it isn't.

        The user sees `display`, with the danger of `subject` in its ShellBlock, and the `reason` why a
        command needs approval before it runs.
        If the user may edit the `proposal`, the return value is the edited text to use instead of it.
        """
        ...

    def report_unavailable_trials(self, problem: str) -> None:
        """Notify the user once that commands need approval before they run, and why."""
        ...

    def command_mode(self, subject: CommandSubject) -> CommandMode:
        """Return how the command runs at the moment."""
        ...

    def is_allowed(self, subject: Subject) -> bool:
        """Return whether a rule or the permission mode allows `subject` at the moment. Blocks."""
        ...

    def find_outside_path(self, subject: CommandSubject) -> str:
        """Return a file outside the session's bounds that the command names, or nothing. Blocks."""
        ...

    def find_outside_path_in_text(self, text: str) -> str:
        """Return an existing file outside the session's bounds that `text` names, or nothing. Blocks."""
        ...

    def review_effects(
        self,
        subject: CommandSubject,
        changes: Sequence[PathChange],
        *,
        created: Collection[Path],
        opened: Sequence[Path],
        n_network_attempts: int,
    ) -> EffectReview:
        """Return which effects of a command need consent. Blocks.

        `created` are the files that the agent has created, and `opened` those with secrets that the command
        has read.
        """
        ...

    async def request_effects(
        self, call: CallContext, *, subject: CommandSubject, review: EffectReview, summary: TrialSummary
    ) -> EffectsAnswer:
        """Return what to do with the effects of a command, once the user has seen them.

        Raises ToolRejected if they aren't approved.
        """
        ...
