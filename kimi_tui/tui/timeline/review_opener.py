"""Opener of reviews."""

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.timeline.dialogs import TimelineDialogs
from kimi_tui.tui.timeline.revert_proposal import RevertPlanner
from kimi_tui.tui.timeline.tree_loader import TreeLoader


class ReviewOpener:
    """Opens the review of the changes between two checkpoints, or a checkpoint and the current files."""

    def __init__(
        self, *, loader: TreeLoader, dialogs: TimelineDialogs, host: CommandHost, planner: RevertPlanner
    ) -> None:
        self._loader = loader
        self._dialogs = dialogs
        self._host = host
        self._planner = planner

    async def open(self, before: int | None, after: int | None) -> None:
        """Let the user review the changes. Without `before`, begin after the last review; without `after`,
        end with the current files.
        """
        tree = await self._loader.load_all()
        missing = next((it for it in (before, after) if it is not None and tree.find_by_id(it) is None), None)
        if missing is not None:
            notify_missing_checkpoint(self._host, missing)
        else:
            await self._dialogs.review(before, after, tree=tree, planner=self._planner)


def notify_missing_checkpoint(host: CommandHost, number: int | None) -> None:
    """Notify the user that a checkpoint doesn't exist. None stands for the last prompt's checkpoint."""
    host.notify(
        tr("Checkpoint {number} doesn't exist. Open the timeline to see all checkpoints.", number=number)
        if number is not None
        else tr("No prompts yet."),
        severity="error",
    )
