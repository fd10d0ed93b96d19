"""The journey under way: a plan that is being made, or a jump, beside the commands.

A command that follows a jump waits for it; only an interruption doesn't. What is interrupted before anything
was changed has changed nothing; what has begun to change something is carried out.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from kimi_tui.wire.commands import (
    Compare,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    SwitchBranch,
    TravelCommand,
    Undo,
)

_PLANS = (PlanRevert, PlanSwitch, Compare)
_JUMPS = (Revert, Undo, Redo, SwitchBranch)


class Journey:
    """What of the timeline's commands may take long, in one session."""

    def __init__(self, travel: Callable[[TravelCommand], Coroutine[Any, Any, None]]) -> None:
        """`travel` carries a command out and tells what came of it, also when it is interrupted."""
        self._travel = travel
        self._plans: set[asyncio.Task[None]] = set()
        self._jump: asyncio.Task[None] | None = None

    async def begin(self, command: TravelCommand, group: asyncio.TaskGroup) -> None:
        """Begin what `command` says; what doesn't take long is done when this returns."""
        if isinstance(command, _PLANS):
            task = group.create_task(self._travel(command))
            self._plans.add(task)
            task.add_done_callback(self._plans.discard)
        elif isinstance(command, _JUMPS):
            self._jump = group.create_task(self._jump_after_plans(command))
        else:
            await self._travel(command)

    async def jumped(self) -> None:
        """Return when no jump is under way."""
        if self._jump is not None:
            await asyncio.wait([self._jump])
            self._jump = None

    def interrupt(self) -> bool:
        """Give up what is under way, as far as nothing was changed yet. Whether anything was under way."""
        tasks = [task for task in (self._jump, *self._plans) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        return bool(tasks)

    async def _jump_after_plans(self, command: TravelCommand) -> None:
        if self._plans:
            await asyncio.wait(self._plans)
        await self._travel(command)
