"""Registry on disk of running commands, so that the next run can end them if the program is killed."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kimi_tui.base.ids import new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.tools.shell.orphan_processes import kill_marked, kill_orphans

logger = logging.getLogger(__name__)

_STARTING = "starting-"


class ProcessRegistry:
    """The process groups of one session's commands, each an empty file in a directory. Never raises.

    Files with the prefix `starting-` are for commands whose group isn't known yet; those are found by their
    marker.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def marker(self) -> str:
        """Marker in the environment of all commands. A group's number alone could be reused by then."""
        return str(self._folder)

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Return a context for the start of a command, which runs before its group is known."""
        name = f"{_STARTING}{new_uid()}"
        self._create_file(name)
        try:
            yield
        finally:
            self._remove_file(name)

    def register(self, group: int) -> None:
        """Save the group of a command that has started."""
        self._create_file(str(group))

    def unregister(self, group: int) -> None:
        """Remove a group that has ended."""
        self._remove_file(str(group))

    def kill_all(self) -> int:
        """Kill the groups that an earlier run of the program left running. Return their number. Blocks."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return 0
        n_killed = 0
        for name in names:
            if name.isdecimal():
                n_killed += kill_orphans(int(name), self.marker) is True
            elif name.startswith(_STARTING):
                n_killed += kill_marked(self.marker)
            self._remove_file(name)
        return n_killed

    def _create_file(self, name: str) -> None:
        try:
            make_private_dir(self._folder)
            os.close(os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            logger.warning("can't register a command: %s", name, exc_info=True)

    def _remove_file(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / name).unlink()
