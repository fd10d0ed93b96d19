"""Calls of the resident engine to the editor of a client, and their results."""

from typing import Literal

from kimi_tui.base.frozen import frozen

EditorService = Literal["files", "terminals"]
"""What the editor of a client provides."""


@frozen(kw_only=True)
class EditorCall:
    """A file access or a command in the editor of a client."""

    id: str
    kind: Literal["read", "write", "run", "cancel"]
    """`cancel` ends the call with the same id."""
    path: str = ""
    """The file, or the working directory of the command."""
    text: str = ""
    """The new text of the file, or the command."""
    tool_call_id: str = ""
    timeout_s: float = 0.0


@frozen(kw_only=True)
class EditorResult:
    """The result of a call."""

    id: str
    is_done: bool = False
    """Whether the editor did it. If not, nothing has changed."""
    text: str = ""
    """The text of the file, or the output of the command."""
    status: int = 0
    timed_out: bool = False
