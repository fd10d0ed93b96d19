"""Interface through which tools ask for consent."""

from pathlib import Path
from typing import Protocol

from kimi_tui.permission.subject import Subject
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.display_blocks import DisplayBlock
from kimi_tui.wire.requests import Proposal


class ToolRejected(Exception):
    """Raised if the user rejects a call. With feedback, the turn continues; without it, the turn ends."""

    def __init__(self, feedback: str = "", *, ends_turn: bool | None = None) -> None:
        super().__init__(feedback or "rejected by the user")
        self.feedback = feedback
        self.ends_turn = not feedback if ends_turn is None else ends_turn


class Approval(Protocol):
    """Gets consent for calls: from yolo mode, from a rule, or from the user."""

    def may_read(self, path: Path) -> bool:
        """Return whether the rules allow reading `path` (absolute, links resolved) without asking."""
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
    ) -> str | None:
        """Return once `subject` is approved exactly as described. Raises ToolRejected if it isn't.

        The user sees `display`, with the danger of `subject` in its ShellBlock.
        If the user may edit the `proposal`, the return value is the edited text to use instead of it.
        """
        ...
