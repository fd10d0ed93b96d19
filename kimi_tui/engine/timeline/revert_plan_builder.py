"""Builder of the plans of reverts, undos, redos, branch switches and adoptions."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.attempts.attempt_store import AttemptStore
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.timeline.revert_messages import build_planned_files, incomplete_note
from kimi_tui.engine.timeline.revert_target import (
    RevertTarget,
    RevertTargets,
    is_state_pending,
    unavailable_reason,
)
from kimi_tui.engine.timeline.shown_plans import ShownPlans
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.wire.attempts import PlanAdoption
from kimi_tui.wire.commands import PlanRevert, PlanSwitch
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.timeline import PlannedFile, RevertPlan, RevertReason

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.deadline import ScanDeadline
    from kimi_tui.history.snapshots.file_history import FileHistory


CANCELED_NOTE = "Canceled."


class RevertPlanBuilder:
    """Plans the reverts of one session, and keeps the file state in which each plan was shown."""

    def __init__(
        self,
        *,
        files: SessionFiles,
        targets: RevertTargets,
        shown_plans: ShownPlans,
        sender: EventSender,
        attempts: AttemptStore,
    ) -> None:
        self._files = files
        self._targets = targets
        self._shown_plans = shown_plans
        self._sender = sender
        self._attempts = attempts
        self._shown_states: dict[_PlanKey, str] = {}
        """The file state in which each plan since the last revert was shown."""

    async def plan_revert(self, command: PlanRevert) -> None:
        """Send the plan of a revert, an undo or a redo. Raises KimiTuiError."""
        match command.to:
            case "undo" | "redo":
                target = self._targets.for_undo_or_redo(command.to)
            case int(number):
                target = await self._targets.for_checkpoint(number, command.scope)
            case _:
                assert_never(command.to)
        await self._send_plan(target)

    async def plan_switch(self, command: PlanSwitch) -> None:
        """Send the plan of a branch switch. Raises KimiTuiError."""
        await self._send_plan(await self._targets.for_branch(command.branch, command.to, "both"))

    async def plan_files(self, checkpoint: int) -> "tuple[Plan | None, str]":
        """Return the plan for reverting the files to a checkpoint, and a note. Raises KimiTuiError.

        The note names changes that the plan may not contain. If no plan can be built, return None and the
        reason. A later revert of the files to this checkpoint counts as chosen in this plan.
        """
        target = await self._targets.for_checkpoint(checkpoint, "files")
        plan, note = await self.build_plan(target)
        if plan is not None:
            self._shown_states[_plan_key(target)] = plan.head
        return plan, note

    async def plan_adoption(self, command: PlanAdoption) -> None:
        """Send the plan of an adoption of attempts. Raises KimiTuiError."""
        await self._send_plan(self._targets.for_adoption(command.numbers, command.files))

    def take_shown_state(self, target: RevertTarget) -> str | None:
        """Return the file state in which the plan of `target` was shown, and forget all such states."""
        state = self._shown_states.get(_plan_key(target))
        self._shown_states.clear()
        return state

    async def _send_plan(self, target: RevertTarget) -> None:
        try:
            plan, note = await self.build_plan(target)
        except asyncio.CancelledError:
            to, reason, scope = target.checkpoint, target.reason, target.scope
            self._sender.send(RevertPlan(to, reason, (), (), CANCELED_NOTE, scope, target.branch))
            raise
        files: tuple[PlannedFile, ...] = ()
        if plan is not None:
            self._shown_states[_plan_key(target)] = plan.head
            files = await self._files.worker.use(build_planned_files, plan)
        turns = 0
        if target.moves_conversation:
            turns = await self._targets.count_lost_turns(target)
        self._sender.send(
            RevertPlan(
                target.checkpoint,
                target.reason,
                files,
                plan.commands if plan is not None else (),
                note,
                target.scope,
                target.branch,
                turns,
                plan.remarks if plan is not None else (),
                self._shown_plans.add(plan) if plan is not None else "",
                self._targets.next_checkpoint if plan is not None else None,
            )
        )

    async def build_plan(self, target: RevertTarget) -> "tuple[Plan | None, str]":
        """Return the plan for the files and a note on its gaps.

        If no plan can be built, return None and the reason.
        """
        if target.attempts:
            return await self._plan_attempts(target), ""
        if is_state_pending(target.files):
            await self._files.wait_for_states()
            target = await self._targets.refresh(target)
        if reason := unavailable_reason(target.files):
            return None, reason
        try:
            plan = await self._files.worker.run_query(partial(_plan_files, target))
        except KimiTuiError as error:
            return None, str(error)
        return plan, incomplete_note(plan)

    async def _plan_attempts(self, target: RevertTarget) -> "Plan":
        from kimi_tui.engine.attempts.attempt_changes import plan_attempts

        attempts = await asyncio.to_thread(self._attempts.select, target.attempts)
        files = {each.number: each.paths for each in target.attempt_files}
        return await self._files.worker.run_query(
            partial(plan_attempts, attempts=attempts, files=files, store=self._attempts)
        )


_PlanKey = tuple[int, RevertReason, int | None, bool, tuple[int, ...]]


def _plan_key(target: RevertTarget) -> _PlanKey:
    """Return the attributes of a target that determine the plan's file changes."""
    return target.checkpoint, target.reason, target.branch, target.scope == "turn", target.attempts


def _plan_files(target: RevertTarget, history: "FileHistory", deadline: "ScanDeadline") -> "Plan":
    until = None
    if target.scope == "turn":
        until = target.turn_end_files or history.capture().manifest
    return history.plan(target.files or "", until=until, deadline=deadline)
