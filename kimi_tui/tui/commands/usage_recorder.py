"""Records which commands the user runs, without delaying them."""

import asyncio
import logging
from collections.abc import Callable

from textual.dom import DOMNode

from kimi_tui.frontend.command_usage import CommandUsage

logger = logging.getLogger(__name__)


class UsageRecorder:
    """Reads and writes the usage of commands in workers of `node`."""

    def __init__(self, usage: CommandUsage, *, node: DOMNode, wall_clock: Callable[[], float]) -> None:
        self._usage = usage
        self._node = node
        self._wall_clock = wall_clock

    def load(self) -> None:
        """Start reading the usage of earlier runs."""
        self._node.run_worker(asyncio.to_thread(self._usage.load), group="disk")

    def record(self, command: str) -> None:
        """Start recording a use of `command`."""
        self._node.run_worker(self._save(command), group="disk")

    async def _save(self, command: str) -> None:
        try:
            await asyncio.to_thread(self._usage.record, command, self._wall_clock())
        except OSError as error:
            logger.info("can't save the usage of commands: %s", error)
