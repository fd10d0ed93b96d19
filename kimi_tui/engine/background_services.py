"""Services that run while a session is open."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kimi_tui.base.frozen import frozen
from kimi_tui.engine.attempts.attempt_service import AttemptService
from kimi_tui.engine.background_work import BackgroundWork
from kimi_tui.engine.mcp.session_mcp import SessionMcp
from kimi_tui.engine.session.hooks import SessionHooks
from kimi_tui.engine.session.side_questions import SideQuestions
from kimi_tui.engine.session.title_generator import TitleGenerator
from kimi_tui.engine.session.trial_preparation import TrialPreparation
from kimi_tui.engine.session.usage import SessionUsage
from kimi_tui.engine.timeline.service import TimelineService
from kimi_tui.wire.channel import Wire


@frozen(kw_only=True)
class BackgroundServices:
    """Services that run for a session's lifetime."""

    session_usage: SessionUsage
    hooks: SessionHooks
    mcp: SessionMcp | None = None
    side_questions: SideQuestions
    title_generator: TitleGenerator | None = None
    background_work: BackgroundWork
    timeline: TimelineService
    trial_preparation: TrialPreparation | None = None
    attempts: AttemptService

    @asynccontextmanager
    async def run(self, wire: Wire, group: asyncio.TaskGroup) -> AsyncIterator[None]:
        """Run the services in `group`. On exit, stop them and let each one clean up.

        The session's usage is saved until `wire` is closed.
        """
        group.create_task(self.session_usage.save_until_closed(wire.subscribe()))
        side_questions = group.create_task(self.side_questions.serve())
        timeline = group.create_task(self.timeline.run())
        trial_preparation = (
            group.create_task(self.trial_preparation.run()) if self.trial_preparation is not None else None
        )
        title = (
            group.create_task(self.title_generator.serve(wire)) if self.title_generator is not None else None
        )
        checks = (
            group.create_task(self.timeline.checks.serve(wire)) if self.timeline.checks.is_enabled else None
        )
        mcp = group.create_task(self.mcp.run()) if self.mcp is not None else None
        try:
            self.hooks.start(group)
            yield
        finally:
            timeline.cancel()
            if trial_preparation is not None:
                trial_preparation.cancel()
            if title is not None:
                title.cancel()
            if checks is not None:
                checks.cancel()
                await asyncio.wait([checks])
            await self.timeline.bisect.close()
            await self.attempts.close()
            await self.background_work.close()
            side_questions.cancel()
            await asyncio.wait([side_questions])
            if mcp is not None:
                mcp.cancel()
                await asyncio.wait([mcp])
            await self.hooks.close()
