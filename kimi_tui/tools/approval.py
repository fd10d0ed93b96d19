"""The door between a tool and the user's consent: what is asked, and how a no reaches the soul."""

from pathlib import Path
from typing import Protocol

from kimi_tui.base.value import value
from kimi_tui.tools.tool import RunningCall
from kimi_tui.wire.display import DisplayBlock
from kimi_tui.wire.requests import Proposal


@value
class CommandSubject:
    """A shell command, exactly as it would run."""

    command: str


@value
class PathSubject:
    """A change of one file, or reading one that holds secrets."""

    path: Path
    """Absolute, symlinks resolved."""
    writes: bool = True


@value
class McpSubject:
    """A call of an MCP server's tool."""

    server: str
    tool: str


@value
class TaskSubject:
    """Ending a background task. No rule names it: it is asked for each time."""

    task_id: str


@value
class ToolSubject:
    """A call of a tool that the program which opened the session brought along."""

    tool: str


Subject = CommandSubject | PathSubject | McpSubject | TaskSubject | ToolSubject


class ToolRejected(Exception):
    """The user said no. With feedback the turn goes on; without, it ends."""

    def __init__(self, feedback: str = "", *, ends_turn: bool | None = None) -> None:
        super().__init__(feedback or "rejected by the user")
        self.feedback = feedback
        self.ends_turn = not feedback if ends_turn is None else ends_turn


class Approval(Protocol):
    """Asks for consent: yolo, then granted rules, then the user."""

    def may_read(self, path: Path) -> bool:
        """Whether no rule forbids reading the file at `path`, absolute with links resolved, or asks first."""
        ...

    async def request(
        self,
        call: RunningCall,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
    ) -> str | None:
        """Return when `subject` may be acted on, exactly as described. Raises ToolRejected otherwise.

        With a `proposal` the user may change it: then the answer is the text to act on in its place.
        """
        ...
