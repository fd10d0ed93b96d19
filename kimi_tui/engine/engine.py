"""Engine of one session: replays it, and serves its commands."""

import asyncio
from contextlib import AsyncExitStack

from kimi_tui.engine.background_services import BackgroundServices
from kimi_tui.engine.command_dispatcher import CommandDispatcher
from kimi_tui.engine.recording.event_log import EventLog
from kimi_tui.engine.recording.recorder import Recorder
from kimi_tui.engine.session.modes import Modes
from kimi_tui.engine.session.permission_service import PermissionService
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.history.session import Session
from kimi_tui.soul.soul import Soul
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import TodoUpdate


class Engine:
    """Serves one session until it receives Shutdown."""

    def __init__(
        self,
        *,
        wire: Wire,
        session: Session,
        soul: Soul,
        todos: SessionTodos,
        publisher: SessionPublisher,
        modes: Modes,
        services: BackgroundServices,
        permissions: PermissionService,
        dispatcher: CommandDispatcher,
        resources: AsyncExitStack,
    ) -> None:
        self._wire = wire
        self._session = session
        self._soul = soul
        self._todos = todos
        self._publisher = publisher
        self._modes = modes
        self._services = services
        self._permissions = permissions
        self._dispatcher = dispatcher
        self._resources = resources

    async def serve(self) -> None:
        """Replay the session, then handle commands until Shutdown.

        Finally closes the Wire and everything that was opened for the session.
        """
        try:
            await self._services.timeline.recover()
            await self._send_initial_state()
            recorder = Recorder(self._session.wire_file, self._wire)
            async with asyncio.TaskGroup() as group:
                group.create_task(recorder.run())
                group.create_task(EventLog(self._wire, self._session.id).run())
                try:
                    async with self._services.run(self._wire, group):
                        await self._dispatcher.run(group, recorder)
                finally:
                    self._wire.close()
        finally:
            self._wire.close()
            await self._resources.aclose()

    async def _send_initial_state(self) -> None:
        self._publisher.send_info()
        await self._publisher.send_initial_replay()
        if self._todos.items:
            self._wire.send(TodoUpdate(self._todos.items))
        self._publisher.send_repairs()
        self._permissions.send_unconfirmed_grants()
        self._modes.announce()
        self._services.background_work.send_initial_state()
        self._soul.send_status()
        await self._services.attempts.load()
