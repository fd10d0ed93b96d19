"""Opener of attempts."""

from kimi_tui.tui.timeline.dialogs import TimelineDialogs
from kimi_tui.tui.timeline.revert_proposal import RevertPlanner
from kimi_tui.wire.timeline import TimelineNode


class AttemptsOpener:
    """Opens the comparison of the attempts, and starts attempts from a checkpoint."""

    def __init__(self, *, dialogs: TimelineDialogs, planner: RevertPlanner) -> None:
        self._dialogs = dialogs
        self._planner = planner

    async def compare(self) -> None:
        """Let the user compare the attempts, adopt their changes, and start more attempts."""
        await self._dialogs.compare_attempts(is_starting=False, planner=self._planner)

    async def start(self, node: TimelineNode) -> None:
        """Let the user start attempts from a checkpoint, then show the attempts."""
        command = await self._dialogs.choose_attempts(node)
        if command is not None:
            self._dialogs.ask(command)
            await self._dialogs.compare_attempts(is_starting=True, planner=self._planner)
