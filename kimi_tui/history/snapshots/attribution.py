"""Attribution of file changes to their authors."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

AuthorKind = Literal["call", "revert", "you", "background", "coverage"]
"""Kinds of authors.

- `call`: a tool call
- `revert`: a revert
- `you`: the user, or anything else that changed files while no tool ran
- `background`: the user or a running background task, which can't be distinguished
- `coverage`: nobody; files became covered or uncovered when ignore rules changed
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeAuthor:
    """The author of file changes. A change by "you" in one session may be a tool call of another session."""

    who: AuthorKind = "you"
    session: str = ""
    call: str = ""
    """The id of the tool call or background task. For a revert, the state that it restored, if known."""
    tool: str = ""
    agent: str = ""
    """The id of the sub-agent that made the call; empty for the main agent."""
    command: str = ""
    """The shell command, or empty. Its effects outside the covered files can't be reverted.

    For `coverage`, the reason why coverage was partial before or after the record.
    """
    began: float = 0.0
    """Start of the call in seconds since the epoch; 0 if its changes are known exactly.

    Set if a scan found the changes. Then someone else may have made them while the call ran.
    """

    @property
    def is_tool(self) -> bool:
        """Whether the author is a tool call or a revert."""
        return self.who in {"call", "revert"}

    @property
    def is_program(self) -> bool:
        """Whether the author is a tool call, a revert, a background task or a command run by the user."""
        return self.is_tool or self.who == "background" or (self.who == "you" and bool(self.command))

    def is_tool_of_other_session(self, sessions: Collection[str]) -> bool:
        """Return whether the author is a tool call or revert of a session that isn't in `sessions`."""
        return self.is_tool and self.session not in sessions


USER = ChangeAuthor()
COVERAGE = ChangeAuthor(who="coverage")
