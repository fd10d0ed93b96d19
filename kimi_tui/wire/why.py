"""Why: who wrote a line of a file, when, and for which prompt."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand

LineAuthor = Literal["agent", "you", "agent or you", "unknown"]
"""`agent or you`: a scan found the change after a command of the agent, but you may also have made it.
`unknown`: the change is older than the stored history, or hasn't been stored yet.
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

    Texts from the conversation are empty if unknown, or if the agent didn't write the line.
    """

    path: str
    line: int
    text: str
    by: LineAuthor
    note: str = ""
    """Additional information, such as that the line existed before the first file snapshot."""
    time: float = 0.0
    """When the change was recorded, in seconds since the epoch; 0 if unknown."""
    session_id: str = ""
    """The session in which the agent wrote the line."""
    session_title: str = ""
    is_other_session: bool = False
    """Whether `session_id` isn't the open session."""
    checkpoint: int | None = None
    """The checkpoint before the step that wrote the line. A revert to this checkpoint removes the line."""
    branch: int | None = None
    """The branch of `checkpoint`; None for the current branch."""
    step: str = ""
    """Description of the step, in one line."""
    prompt: str = ""
    """The user's message of the turn."""
    agent: str = ""
    """The id of the sub-agent that wrote the line; empty for the main agent."""
    tool: str = ""
    command: str = ""
    """The shell command that wrote the line, if any."""
    reasoning: str = ""
    """The model's thinking in the step."""
    response: str = ""
    """The model's response in the step."""
    model: str = ""
    cost_usd: float | None = None
    """Cost of the step's response, in US dollars."""
