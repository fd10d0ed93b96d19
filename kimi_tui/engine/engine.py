"""Engine of one session: handles commands and sends events over the Wire."""

import asyncio
from contextlib import AsyncExitStack

from kimi_tui.engine.background_services import BackgroundServices
from kimi_tui.engine.build.handlers import SessionHandlers
from kimi_tui.engine.client_tools import client_tools
from kimi_tui.engine.models.active_model import ActiveModel
from kimi_tui.engine.recording.recorder import Recorder
from kimi_tui.engine.session.metadata import SessionMetadata
from kimi_tui.engine.session.modes import Modes
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.session.user_commands import UserCommandHandler
from kimi_tui.history.session import Session
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.wire_approval import WireApproval
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.argument_completion import CompleteArgument
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    Command,
    DeleteSession,
    ExcludeTools,
    Interrupt,
    ListSessions,
    PreviewSession,
    Prompt,
    ReadTask,
    RegisterTools,
    RenameSession,
    RunShell,
    RunSlash,
    SaveRecording,
    SetAcceptEdits,
    SetModel,
    SetPlanMode,
    SetThinking,
    SetYolo,
    Shutdown,
    Steer,
    StopShell,
    StopTask,
    SubscribeHooks,
    UserCommand,
)
from kimi_tui.wire.events import TodoUpdate
from kimi_tui.wire.model_setup import ConnectModel, FindModels
from kimi_tui.wire.settings import ChangeSetting, ListSettings


class Engine:
    """Serves one session until it receives Shutdown."""

    def __init__(
        self,
        *,
        wire: Wire,
        session: Session,
        soul: Soul,
        toolset: Toolset,
        approval: WireApproval,
        todos: SessionTodos,
        publisher: SessionPublisher,
        modes: Modes,
        model: ActiveModel,
        metadata: SessionMetadata,
        handlers: SessionHandlers,
        services: BackgroundServices,
        user_commands: UserCommandHandler | None = None,
        resources: AsyncExitStack,
    ) -> None:
        self._wire = wire
        self._session = session
        self._soul = soul
        self._toolset = toolset
        self._approval = approval
        self._todos = todos
        self._publisher = publisher
        self._modes = modes
        self._model = model
        self._metadata = metadata
        self._turns = handlers.turns
        self._revert_scheduler = handlers.revert_scheduler
        self._slash = handlers.slash
        self._services = services
        self._user_commands = user_commands
        self._resources = resources
        self._recorder: Recorder | None = None
        modes.on_change = self._on_mode_change

    async def serve(self) -> None:
        """Replay the session, then handle commands until Shutdown.

        Finally closes the Wire and everything that was opened for the session.
        """
        try:
            await self._services.timeline.recover_revert()
            await self._send_initial_state()
            self._recorder = Recorder(self._session.wire_file, self._wire.subscribe())
            async with asyncio.TaskGroup() as group:
                group.create_task(self._recorder.run())
                try:
                    async with self._services.run(self._wire, group):
                        await self._run_commands(group)
                finally:
                    self._wire.close()
        finally:
            self._wire.close()
            await self._resources.aclose()

    async def _run_commands(self, group: asyncio.TaskGroup) -> None:
        try:
            self._revert_scheduler.start(group)
            self._model.prepare(group)
            await self._dispatch_commands(group)
        finally:
            await self._turns.stop()
            self._revert_scheduler.interrupt()
            self._model.cancel_preparation()

    async def _send_initial_state(self) -> None:
        self._publisher.send_info()
        await self._publisher.send_initial_replay()
        if self._todos.items:
            self._wire.send(TodoUpdate(self._todos.items))
        self._publisher.send_repairs()
        self._modes.announce()
        self._services.background_work.send_initial_state()
        self._soul.send_status()

    async def _dispatch_commands(self, group: asyncio.TaskGroup) -> None:
        async for command in self._wire.commands():
            if not isinstance(command, Interrupt):
                await self._revert_scheduler.wait_for_revert()
            if isinstance(command, Shutdown):
                return
            await self._publisher.report_errors(self._handle(command, group))

    async def _handle(self, command: Command, group: asyncio.TaskGroup) -> None:
        match command:
            case Steer(user_input=user_input) if self._turns.is_steerable:
                self._soul.steer(user_input)
            case Prompt(user_input=user_input) | Steer(user_input=user_input):
                self._turns.add(user_input, group)
                # In its own task: a command that interrupts this turn must not wait for a slow disk.
                group.create_task(self._publisher.report_errors(self._metadata.save_changes(user_input)))
            case Interrupt() if self._turns.is_running:
                self._turns.interrupt()
            case Interrupt():
                if not self._revert_scheduler.interrupt():
                    self._services.side_questions.cancel_running()
            case RunSlash(line=line):
                await self._slash.run(line, group)
            case SetModel(name=name):
                await self._model.select(name, group)
            case SetThinking(enabled=enabled):
                self._modes.set_thinking(enabled)
            case SetYolo(enabled=enabled):
                await self._modes.set_yolo(enabled)
            case SetAcceptEdits(enabled=enabled):
                await self._modes.set_accept_edits(enabled)
            case SetPlanMode(enabled=enabled):
                await self._modes.set_plan_mode(enabled)
            case RegisterTools(tools=tools):
                self._toolset.register(client_tools(self._wire, tools))
            case ExcludeTools(names=names):
                self._toolset.exclude(names)
            case SubscribeHooks(hooks=hooks):
                self._services.hooks.subscribe(hooks)
                self._publisher.send_info()
            case ReadTask() | StopTask():
                group.create_task(
                    self._publisher.report_errors(self._services.background_work.handle(command))
                )
            case RunShell(on_terminal=True):
                await self._handle_user_command(command)
            case (
                RunShell()
                | StopShell()
                | ListSessions()
                | PreviewSession()
                | RenameSession()
                | DeleteSession()
                | FindModels()
                | ConnectModel()
                | ListSettings()
                | ChangeSetting()
            ):
                group.create_task(self._publisher.report_errors(self._handle_user_command(command)))
            case CompleteArgument(command=name, text=text):
                group.create_task(self._publisher.report_errors(self._slash.complete(name, text)))
            case SaveRecording():
                if self._recorder is not None:
                    await self._recorder.save()
            case Shutdown():
                pass
            case _:
                await self._revert_scheduler.handle_timeline_command(command)

    async def _handle_user_command(self, command: UserCommand) -> None:
        if self._user_commands is not None:
            await self._user_commands.handle(command)

    def _on_mode_change(self) -> None:
        self._approval.resolve_granted_requests()
        self._publisher.send_info()
