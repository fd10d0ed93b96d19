"""Scheduler for reverts and plans, which run concurrently with other commands.

A command that follows a revert waits for it; only an interrupt doesn't. A revert that is interrupted before
it has changed anything changes nothing; after that, it runs to completion.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from kimi_tui.engine.slash.timeline import TimelineOperations
from kimi_tui.wire.commands import (
    Compare,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    SwitchBranch,
    TimelineCommand,
    Undo,
    WritePatch,
)

_PLAN_COMMANDS = (PlanRevert, PlanSwitch, Compare, WritePatch)
_REVERT_COMMANDS = (Revert, Undo, Redo, SwitchBranch)


class RevertScheduler:
    """Implements `TimelineOperations` on top of another implementation, whose slow operations it runs in the
    background.
    """

    def __init__(
        self,
        operations: TimelineOperations,
        *,
        report_errors: Callable[[Awaitable[None]], Coroutine[Any, Any, None]],
        defer_completion: Callable[[asyncio.Task[None]], None],
    ) -> None:
        """Initialize the scheduler.

        `report_errors` awaits an operation and reports its errors. `defer_completion` is called with the task
        that completes the current command.
        """
        self._operations = operations
        self._report_errors = report_errors
        self._defer_completion = defer_completion
        self._group: asyncio.TaskGroup | None = None
        self._plans: set[asyncio.Task[None]] = set()
        self._revert: asyncio.Task[None] | None = None

    def start(self, group: asyncio.TaskGroup) -> None:
        """Run slow operations in `group`."""
        self._group = group

    async def handle_timeline_command(self, command: TimelineCommand) -> None:
        """Start `command`. A fast command has finished when this returns.

        Raises: KimiTuiError if a fast command fails. Errors of background operations are reported.
        """
        assert self._group is not None, "start() must be called first"
        if isinstance(command, _PLAN_COMMANDS):
            task = self._group.create_task(
                self._report_errors(self._operations.handle_timeline_command(command))
            )
            self._plans.add(task)
            task.add_done_callback(self._plans.discard)
        elif isinstance(command, _REVERT_COMMANDS):
            task = self._revert = self._group.create_task(self._revert_after_plans(command))
        else:
            await self._operations.handle_timeline_command(command)
            return
        self._defer_completion(task)

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        await self._operations.list_checkpoints()

    async def list_branches(self) -> None:
        """Show the branches."""
        await self._operations.list_branches()

    async def wait_for_revert(self) -> None:
        """Wait until no revert is running."""
        if self._revert is not None:
            await asyncio.wait([self._revert])
            self._revert = None

    def interrupt(self) -> bool:
        """Cancel running plans, and a revert that hasn't changed anything yet. Return whether any were
        running.
        """
        tasks = [task for task in (self._revert, *self._plans) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        return bool(tasks)

    async def _revert_after_plans(self, command: TimelineCommand) -> None:
        if self._plans:
            await asyncio.wait(self._plans)
        await self._report_errors(self._operations.handle_timeline_command(command))
