"""Why: who wrote a line of a file, when, and for which prompt."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand

LineAuthor = Literal["agent", "you", "agent or you", "unknown"]
"""`agent or you`: a scan found the change after a command of the agent, so that you may have made it as well.
`unknown`: the stored history begins later, or the change isn't in it yet.
"""


@frozen
class ExplainLine(BaseCommand):
    """Find out who wrote a line of a file. The reply is a LineReason."""

    scheduling = "plan"

    path: str
    """Relative to the working directory, or absolute."""
    line: int
    """From 1."""


@frozen(kw_only=True)
class LineReason:
    """Who wrote a line, when, and for which prompt. Not in kimi-cli.

    Texts of the conversation are empty if they are unknown, or if the agent didn't write the line.
    """

    path: str
    line: int
    text: str
    by: LineAuthor
    note: str = ""
    """What is special about it, such as that it was there before the first file snapshot."""
    time: float = 0.0
    """When the change was recorded, in seconds since the epoch; 0 if unknown."""
    session_id: str = ""
    """The session whose agent wrote it."""
    session_title: str = ""
    is_other_session: bool = False
    """Whether that is another session than the one that is open."""
    checkpoint: int | None = None
    """The checkpoint before the step that wrote it: a revert there removes it."""
    branch: int | None = None
    """The branch of that checkpoint; None if it is on the current branch."""
    step: str = ""
    """What the step did, in one line."""
    prompt: str = ""
    """The user's message of the turn."""
    agent: str = ""
    """The id of the sub-agent that wrote it; empty for the main agent."""
    tool: str = ""
    command: str = ""
    """The shell command, if one wrote it."""
    reasoning: str = ""
    """What the model thought in that step."""
    response: str = ""
    """What the model said in that step."""
    model: str = ""
    cost_usd: float | None = None
    """Cost of the step's response."""
