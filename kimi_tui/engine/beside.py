"""What goes on beside a session's turns, from its opening to its end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kimi_tui.base.value import value
from kimi_tui.engine.accounts import Accounts
from kimi_tui.engine.mcp.session_mcp import SessionMcp
from kimi_tui.engine.session_hooks import SessionHooks
from kimi_tui.engine.side_questions import SideQuestions
from kimi_tui.engine.side_work import SideWork
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.wire.channel import Wire


@value(kw_only=True)
class Beside:
    """Those who work of their own accord while the session is open."""

    accounts: Accounts
    hooks: SessionHooks
    mcp: SessionMcp | None = None
    side_questions: SideQuestions
    side_work: SideWork
    time_machine: TimeMachine

    @asynccontextmanager
    async def at_work(self, wire: Wire, group: asyncio.TaskGroup) -> AsyncIterator[None]:
        """All of them work in `group`; at the end each may finish what it must. Accounts end with `wire`."""
        group.create_task(self.accounts.keep(wire.subscribe()))
        answering = group.create_task(self.side_questions.serve())
        travelling = group.create_task(self.time_machine.run())
        connecting = group.create_task(self.mcp.run()) if self.mcp is not None else None
        try:
            self.hooks.begin(group)
            yield
        finally:
            travelling.cancel()
            await self.side_work.close()
            answering.cancel()
            await asyncio.wait([answering])
            if connecting is not None:
                connecting.cancel()
                await asyncio.wait([connecting])
            await self.hooks.end()
