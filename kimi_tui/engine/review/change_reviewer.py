"""Reviewer: shows the changes between two checkpoints, or since a checkpoint, and reverts selected hunks."""

import asyncio
from dataclasses import replace

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.review.viewed_files import (
    ViewedFiles,
    content_mark,
    read_viewed_files,
    viewed_items,
    write_viewed_files,
)
from kimi_tui.engine.timeline.compare import resolve_states
from kimi_tui.engine.timeline.revert_executor import RevertExecutor
from kimi_tui.engine.timeline.revert_messages import build_reviewed_files, display_item_path
from kimi_tui.engine.timeline.revert_plan_builder import CANCELED_NOTE, RevertPlanBuilder
from kimi_tui.engine.timeline.revert_target import unavailable_reason
from kimi_tui.engine.timeline.shown_plans import ShownPlan, ShownPlans
from kimi_tui.history.checkpoint_tree import CheckpointTree
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.wire.commands import Revert
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.review import ChangeReview, MarkViewed, ReadPlannedFile, RevertHunks, ReviewChanges
from kimi_tui.wire.timeline import Comparison

_NOT_NOW = msg("Hunks can be reverted only in a review that ends at the current files.")


class ChangeReviewer:
    """Shows reviews of one session. Its methods raise KimiTuiError."""

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        files: SessionFiles,
        planner: RevertPlanBuilder,
        reverts: RevertExecutor,
        shown_plans: ShownPlans,
        sender: EventSender,
    ) -> None:
        self._session = session
        self._context = context
        self._files = files
        self._planner = planner
        self._reverts = reverts
        self._shown_plans = shown_plans
        self._sender = sender
        self._comparing = asyncio.Lock()

    async def review(self, command: ReviewChanges) -> None:
        """Send the files that differ."""
        async with self._comparing:
            await self._review(command)

    async def _review(self, command: ReviewChanges) -> None:
        before = command.before if command.before is not None else await self._first_unreviewed()
        try:
            plan, note = await self._plan(before, command.after)
        except asyncio.CancelledError:
            self._sender.send(ChangeReview(before=before, after=command.after, note=CANCELED_NOTE))
            raise
        if plan is None:
            self._sender.send(ChangeReview(before=before, after=command.after, note=note))
            return
        viewed = await asyncio.to_thread(read_viewed_files, self._session)
        self._sender.send(
            ChangeReview(
                id=self._shown_plans.add(plan, before=before, is_now=command.after is None),
                before=before,
                after=command.after,
                files=await self._files.worker.use(build_reviewed_files, plan),
                viewed=tuple(display_item_path(item) for item in viewed_items(viewed, plan.items)),
                note=note,
            )
        )

    async def read_file(self, command: ReadPlannedFile) -> None:
        """Send a file of a plan or review with its diff and hunks."""
        from kimi_tui.engine.review.review_queries import read_planned_file

        async with self._comparing:  # the latest review may not be complete
            shown = self._shown_plans.find(command.plan)
        self._sender.send(await self._files.worker.use(read_planned_file, shown, command.path))

    async def mark_viewed(self, command: MarkViewed) -> None:
        """Mark files as viewed. Once all files are marked, the next review shows only later changes."""
        shown = self._shown_plans.find(command.plan)
        items = [shown.find(path)[1] for path in command.paths]
        viewed = await asyncio.to_thread(read_viewed_files, self._session)
        marks = {path: mark for path, mark in viewed.marks.items() if path not in {it.path for it in items}}
        if command.viewed:
            marks |= {item.path: content_mark(item) for item in items}
        viewed = replace(viewed, marks=marks)
        if shown.is_now and len(viewed_items(viewed, shown.plan.items)) == len(shown.plan.items):
            viewed = self._end_review(viewed, shown)
        await asyncio.to_thread(write_viewed_files, self._session, viewed)

    async def end_review(self) -> None:
        """End a review of the current files, so that the next review shows only later changes."""
        try:
            shown = self._shown_plans.find("")
        except UsageError:
            return
        if shown.is_now:
            viewed = await asyncio.to_thread(read_viewed_files, self._session)
            await asyncio.to_thread(write_viewed_files, self._session, self._end_review(viewed, shown))

    async def revert_hunks(self, command: RevertHunks) -> None:
        """Revert hunks of the latest review, given by their numbers."""
        shown = self._shown_plans.find("")
        if not shown.is_now or shown.before is None:
            raise UsageError(_NOT_NOW, hint="Start one with /review N.")
        from kimi_tui.engine.review.review_queries import find_choices

        choices = await self._files.worker.use(find_choices, shown, command.hunks)
        await self._reverts.revert(Revert(shown.before, "files", (), choices=choices))

    async def _plan(self, before: int, after: int | None) -> tuple[Plan | None, str]:
        if not self._files.is_enabled:
            raise UsageError(
                "No file snapshots.",
                hint="Set `files = true` under [checkpoints] in the config.",
            )
        if after is None:
            return await self._planner.plan_files(before)
        from kimi_tui.engine.review.review_queries import plan_between

        states = resolve_states(await self._context.tree(), before, after)
        if isinstance(states, Comparison):
            return None, states.note
        try:
            return await self._files.worker.use(plan_between, *states), ""
        except KimiTuiError as error:
            return None, str(error)

    async def _first_unreviewed(self) -> int:
        """Return the checkpoint with which a review begins by default."""
        tree = await self._context.tree()
        viewed = await asyncio.to_thread(read_viewed_files, self._session)
        return first_unreviewed(tree, viewed)

    def _end_review(self, viewed: ViewedFiles, shown: ShownPlan) -> ViewedFiles:
        newest = max((checkpoint.id for checkpoint in self._context.checkpoints), default=None)
        return replace(viewed, begun_at=shown.before, ended_at=newest)


def first_unreviewed(tree: CheckpointTree, viewed: ViewedFiles) -> int:
    """Return the checkpoint with which a review begins by default. Raises UsageError without checkpoints."""
    known = [it.id for it in tree.current_branch if not unavailable_reason(tree.nodes[it.uid].files)]
    if not known:
        known = [it.id for it in tree.current_branch]
    if not known:
        raise UsageError("Nothing to review yet.", hint="Send a prompt first.")
    ended_at, begun_at = viewed.ended_at, viewed.begun_at
    newer = [number for number in known if ended_at is not None and number > ended_at]
    if newer:
        return newer[0]
    return begun_at if begun_at in known else known[0]
