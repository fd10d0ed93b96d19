"""What the soul asks of the history of files."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from kimi_tui.base.message import ToolCall
from kimi_tui.base.value import value
from kimi_tui.tools.step_calls import Change
from kimi_tui.wire.timeline import FileChanges


@value
class FilesAtCheckpoint:
    """The files when a checkpoint is made."""

    state: str
    """Their manifest, or why there is none."""
    changes: FileChanges | None = None
    """How they changed since the checkpoint before; None when that is not known."""
    is_due: bool = False
    """Whether the state has still to be found out; it becomes the checkpoint's when it is."""


class FileStates(Protocol):
    """Keeps what the files hold at checkpoints and around tool calls."""

    def at_checkpoint(self, *, afresh: bool) -> FilesAtCheckpoint:
        """The files' state now; unless `afresh`, as it was after the last tool call. It never waits."""
        ...

    def find_out(self, checkpoint_id: int) -> None:
        """Find out the state that was due when that checkpoint was made."""
        ...

    def around(self, call: ToolCall, change: Change, /) -> AbstractAsyncContextManager[None]:
        """Enter before `call` changes anything; exit when it has."""
        ...
