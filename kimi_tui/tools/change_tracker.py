"""Interface between tool calls and the file history: what a call may change, and who records it."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import ToolCall
from kimi_tui.history.snapshots.attribution import ChangeAuthor


@frozen
class PendingChange:
    """What a call may change during its exclusive section."""

    files: tuple[str, ...] | None
    """The only files, as its parameters name them; None if it may change any."""
    command: str
    """The shell command it runs, if any."""


@frozen
class PendingCommit:
    """Effects of a call's command in a workspace that are about to be committed."""

    paths: tuple[str, ...]
    """The absolute paths that change. Nothing else does."""
    command: str
    renames: Mapping[str, str] = field(default_factory=dict)
    """The renames among them, as far as the workspace knows: new path -> old path."""


class ChangeTracker(Protocol):
    """Observes the changes of calls."""

    def tracking(
        self, call: ToolCall, change: PendingChange | PendingCommit, /
    ) -> AbstractAsyncContextManager[None]:
        """Return a context that is entered before `call` changes anything and exited afterwards."""
        ...

    def author(self, call: ToolCall, command: str, /) -> ChangeAuthor:
        """Return `call`, which runs `command`, as an author of changes."""
        ...
