"""Requests of the user in the timeline pane."""

from dataclasses import dataclass
from typing import Literal, Protocol

from kimi_tui.tui.timeline.rows import RowKind
from kimi_tui.wire.timeline import TimelineBranch, TimelineNode

TimelineAction = Literal[
    "back",
    "preview",
    "conversation",
    "files",
    "turn",
    "undo",
    "redo",
    "switch",
    "look",
    "fork",
    "compare",
    "review",
    "attempts",
    "mail",
    "name",
    "leave",
]
"""Actions for the highlighted row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRequest:
    """An action, and the highlighted row that it applies to."""

    action: TimelineAction
    row_kind: RowKind | None
    """Kind of the row. None for the row of the current state."""
    node: TimelineNode | None
    """The checkpoint of the row. None for the current state and the start of the session."""
    branch: TimelineBranch | None
    """The branch that contains the checkpoint. None for the current branch."""
    other_node: TimelineNode | None = None
    """For "compare", the later checkpoint."""
    name: str = ""
    """For "name", the new name of the checkpoint."""


class TimelineRequestHandler(Protocol):
    """Handler of the user's requests in the timeline pane."""

    def handle_request(self, request: TimelineRequest) -> None:
        """Run an action."""
        ...

    def hide(self) -> None:
        """Hide the pane and return the focus to the prompt."""
        ...

    def preview(self, node: TimelineNode | None) -> None:
        """Scroll the conversation to the highlighted checkpoint. None is the current state."""
        ...
