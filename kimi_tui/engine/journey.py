"""The journey under way: a plan that is being made, or a jump, beside the commands.

A command that follows a jump waits for it; only an interruption doesn't. What is interrupted before anything
was changed has changed nothing; what has begun to change something is carried out.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from kimi_tui.engine.travel_slash import Traveller
from kimi_tui.wire.commands import (
    Compare,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    SwitchBranch,
    TravelCommand,
    Undo,
    WritePatch,
)

_PLANS = (PlanRevert, PlanSwitch, Compare, WritePatch)
_JUMPS = (Revert, Undo, Redo, SwitchBranch)


class Journey:
    """A `Traveller` for one session that lets another go beside the commands with what may take long."""

    def __init__(
        self,
        traveller: Traveller,
        *,
        telling: Callable[[Awaitable[None]], Coroutine[Any, Any, None]],
        goes_on: Callable[[asyncio.Task[None]], None],
    ) -> None:
        """`telling` awaits and tells what fails; `goes_on` hears what the command under way becomes."""
        self._traveller = traveller
        self._telling = telling
        self._goes_on = goes_on
        self._group: asyncio.TaskGroup | None = None
        self._plans: set[asyncio.Task[None]] = set()
        self._jump: asyncio.Task[None] | None = None

    def begin(self, group: asyncio.TaskGroup) -> None:
        """From now on what may take long goes beside the commands, in `group`."""
        self._group = group

    async def travel(self, command: TravelCommand) -> None:
        """Begin what `command` says; what doesn't take long is done when this returns.

        Raises KimiTuiError when that fails; what goes on beside the commands is told.
        """
        assert self._group is not None, "nothing travels before the session is served"
        if isinstance(command, _PLANS):
            task = self._group.create_task(self._telling(self._traveller.travel(command)))
            self._plans.add(task)
            task.add_done_callback(self._plans.discard)
        elif isinstance(command, _JUMPS):
            task = self._jump = self._group.create_task(self._jump_after_plans(command))
        else:
            await self._traveller.travel(command)
            return
        self._goes_on(task)

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        await self._traveller.list_checkpoints()

    async def list_branches(self) -> None:
        """Show the branches."""
        await self._traveller.list_branches()

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
        await self._telling(self._traveller.travel(command))
