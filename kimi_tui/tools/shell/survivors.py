"""Commands that may outlive a program that is killed: on disk, so that its next run ends them."""

import logging
import os
from contextlib import suppress
from pathlib import Path

from kimi_tui.base.paths import make_private_dir
from kimi_tui.tools.shell.orphans import end_orphans

logger = logging.getLogger(__name__)


class Survivors:
    """The process groups of one session's commands, each an empty file in a folder. Nothing here raises."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def mark(self) -> str:
        """What the environment of each carries: a process group's number alone may be another's by then."""
        return str(self._folder)

    def keep(self, group: int) -> None:
        """Remember a group that has begun."""
        try:
            make_private_dir(self._folder)
            os.close(os.open(self._folder / str(group), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            logger.warning("the command of process group %d is not kept on disk", group, exc_info=True)

    def forget(self, group: int) -> None:
        """It has ended."""
        with suppress(OSError):
            (self._folder / str(group)).unlink()

    def end_all(self) -> int:
        """End what an earlier run of the program left running; of how many. Blocks."""
        try:
            names = [path.name for path in self._folder.iterdir() if path.name.isdecimal()]
        except OSError:
            return 0
        ended = 0
        for name in names:
            ended += end_orphans(int(name), self.mark) is True
            self.forget(int(name))
        return ended
