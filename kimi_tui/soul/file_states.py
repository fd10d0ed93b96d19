"""Interface between the soul and the file history."""

from typing import Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.tools.change_tracker import ChangeTracker
from kimi_tui.wire.timeline import FileChanges


@frozen
class FilesAtCheckpoint:
    """State of the files at a checkpoint."""

    state: str
    """Id of the files' manifest, or the reason why there is no manifest."""
    changes: FileChanges | None = None
    """Changes since the previous checkpoint; None if unknown."""
    is_pending: bool = False
    """Whether the state hasn't been captured yet. It is added to the checkpoint later."""


class FileStates(ChangeTracker, Protocol):
    """Records the state of the files at checkpoints and around tool calls."""

    def at_checkpoint(self, *, fresh: bool) -> FilesAtCheckpoint:
        """Return the current file state, without waiting.

        Unless `fresh`, this may be the state after the last tool call.
        """
        ...

    def request_state(self, checkpoint_id: int) -> None:
        """Capture the state that was pending when the checkpoint was created."""
        ...
