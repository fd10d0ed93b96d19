"""Commands that may outlive a program that is killed: on disk, so that its next run ends them."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kimi_tui.base.identity import new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.tools.shell.orphans import end_marked, end_orphans

logger = logging.getLogger(__name__)

_STARTING = "starting-"


class Survivors:
    """The process groups of one session's commands, each an empty file in a folder. Nothing here raises.

    A file without a group says that a command was being started; those are found by their mark.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def mark(self) -> str:
        """What the environment of each carries: a process group's number alone may be another's by then."""
        return str(self._folder)

    @contextmanager
    def starting(self) -> Iterator[None]:
        """While a command is started: it runs before anybody can know its group."""
        name = f"{_STARTING}{new_uid()}"
        self._note(name)
        try:
            yield
        finally:
            self._drop(name)

    def keep(self, group: int) -> None:
        """Remember a group that has begun."""
        self._note(str(group))

    def forget(self, group: int) -> None:
        """It has ended."""
        self._drop(str(group))

    def end_all(self) -> int:
        """End what an earlier run of the program left running; of how many. Blocks."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return 0
        ended = 0
        for name in names:
            if name.isdecimal():
                ended += end_orphans(int(name), self.mark) is True
            elif name.startswith(_STARTING):
                ended += end_marked(self.mark)
            self._drop(name)
        return ended

    def _note(self, name: str) -> None:
        try:
            make_private_dir(self._folder)
            os.close(os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            logger.warning("a command is not kept on disk: %s", name, exc_info=True)

    def _drop(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / name).unlink()
