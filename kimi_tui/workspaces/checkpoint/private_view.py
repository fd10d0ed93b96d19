"""Private view of directories, in which one command runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from kimi_tui.base.frozen import frozen
from kimi_tui.workspaces.command_process import CommandProcess


@frozen
class PrivateTree:
    """Where this process finds the directories of a view."""

    folders: Mapping[str, str]
    """Real directory -> its private counterpart, both absolute and without links."""

    def counterpart_of(self, folder: str) -> str | None:
        """Return the counterpart of a real directory; None if the view doesn't cover it."""
        for root, private in self.folders.items():
            if folder == root or folder.startswith(f"{root.rstrip('/')}/"):
                return f"{private.rstrip('/')}/{folder[len(root) :].lstrip('/')}".rstrip("/")
        return None


@frozen
class ChangedPath:
    """A path that commands in a view may have changed."""

    path: str
    """The real path: absolute and without links in its directories."""
    mode: int
    """`st_mode` in the view; 0 if it doesn't exist there."""
    source: str = ""
    """Where its content can be read while the view is open; empty if it doesn't exist."""


class PrivateView(Protocol):
    """A view whose changes are never committed. It is a `ProcessStarter`."""

    @property
    def tree(self) -> PrivateTree:
        """Its directories. Only those of a copy may be written to, and only before `begin`."""
        ...

    @property
    def is_copy(self) -> bool:
        """Whether commands run in a copy at another path, rather than at the real path."""
        ...

    async def start_process(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], output: int
    ) -> CommandProcess:
        """Implement `ProcessStarter.start_process`. `cwd` is a real directory."""
        ...

    @property
    def is_bounded(self) -> bool:
        """Whether commands can't change files outside of the view."""
        ...

    @property
    def stop_reason(self) -> str:
        """Why the command was ended before it was done; empty if it wasn't."""
        ...

    def begin(self) -> None:
        """Remember the files as they are before the command, for `read_changes`. Blocks. Raises OSError."""
        ...

    def read_changes(self) -> list[ChangedPath]:
        """End the command, and return what it has changed, sorted by path. Blocks. Raises OSError."""
        ...
