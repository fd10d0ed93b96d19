"""One session behind the Wire: commands in, events out."""

import asyncio
from contextlib import AsyncExitStack

from kimi_tui.engine.beside import Beside
from kimi_tui.engine.client_tools import client_tools
from kimi_tui.engine.course import Course
from kimi_tui.engine.keepsakes import Keepsakes
from kimi_tui.engine.model_in_use import ModelInUse
from kimi_tui.engine.modes import Modes
from kimi_tui.engine.recorder import Recorder
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.users_room import UsersRoom
from kimi_tui.history.session import Session
from kimi_tui.soul.approval import WireApproval
from kimi_tui.soul.soul import Soul
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    Command,
    DeleteSession,
    Interrupt,
    LeaveOutTools,
    ListSessions,
    PersonalCommand,
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
)
from kimi_tui.wire.completion import CompleteArgument
from kimi_tui.wire.events import TodoUpdate
from kimi_tui.wire.settings import ChangeSetting, ListSettings
from kimi_tui.wire.setup import ConnectModel, LookForModels


class Engine:
    """Serves one session until it is told to shut down."""

    def __init__(
        self,
        *,
        wire: Wire,
        session: Session,
        soul: Soul,
        toolset: Toolset,
        approval: WireApproval,
        todos: SessionTodos,
        telling: Telling,
        modes: Modes,
        model: ModelInUse,
        keepsakes: Keepsakes,
        course: Course,
        beside: Beside,
        users_room: UsersRoom | None = None,
        resources: AsyncExitStack,
    ) -> None:
        self._wire = wire
        self._session = session
        self._soul = soul
        self._toolset = toolset
        self._approval = approval
        self._todos = todos
        self._telling = telling
        self._modes = modes
        self._model = model
        self._keepsakes = keepsakes
        self._turns = course.turns
        self._journey = course.journey
        self._slash = course.slash
        self._beside = beside
        self._users_room = users_room
        self._resources = resources
        self._recorder: Recorder | None = None
        modes.changed = self._mode_changed

    async def serve(self) -> None:
        """Replay what the session holds, then follow commands until Shutdown.

        Closes the Wire and everything that was opened for the session at the end.
        """
        try:
            await self._beside.time_machine.settle()
            await self._introduce()
            self._recorder = Recorder(self._session.wire_file, self._wire.subscribe())
            async with asyncio.TaskGroup() as group:
                group.create_task(self._recorder.run())
                try:
                    async with self._beside.at_work(self._wire, group):
                        await self._move_on(group)
                finally:
                    self._wire.close()
        finally:
            self._wire.close()
            await self._resources.aclose()

    async def _move_on(self, group: asyncio.TaskGroup) -> None:
        try:
            self._journey.begin(group)
            self._model.prepare(group)
            await self._follow_commands(group)
        finally:
            await self._turns.stop()
            self._journey.interrupt()
            self._model.stop()

    async def _introduce(self) -> None:
        self._telling.info()
        await self._telling.first_past()
        if self._todos.items:
            self._wire.send(TodoUpdate(self._todos.items))
        self._telling.damage()
        self._modes.tell()
        self._beside.side_work.introduce()
        self._soul.send_status()

    async def _follow_commands(self, group: asyncio.TaskGroup) -> None:
        async for command in self._wire.commands():
            if not isinstance(command, Interrupt):
                await self._journey.jumped()
            if isinstance(command, Shutdown):
                return
            await self._telling.errors(self._follow(command, group))

    async def _follow(self, command: Command, group: asyncio.TaskGroup) -> None:
        match command:
            case Steer(user_input=user_input) if self._turns.can_be_steered:
                self._soul.steer(user_input)
            case Prompt(user_input=user_input) | Steer(user_input=user_input):
                self._turns.add(user_input, group)
                # Beside the commands: the one that interrupts this turn must not wait for a slow disk.
                group.create_task(self._telling.errors(self._keepsakes.keep(user_input)))
            case Interrupt() if self._turns.is_running:
                self._turns.interrupt()
            case Interrupt():
                if not self._journey.interrupt():
                    self._beside.side_questions.drop()
            case RunSlash(line=line):
                await self._slash.run(line, group)
            case SetModel(name=name):
                await self._model.choose(name, group)
            case SetThinking(enabled=enabled):
                self._modes.set_thinking(enabled)
            case SetYolo(enabled=enabled):
                await self._modes.set_yolo(enabled)
            case SetAcceptEdits(enabled=enabled):
                await self._modes.set_accept_edits(enabled)
            case SetPlanMode(enabled=enabled):
                await self._modes.set_plan_mode(enabled)
            case RegisterTools(tools=tools):
                self._toolset.lend(client_tools(self._wire, tools))
            case LeaveOutTools(names=names):
                self._toolset.leave_out(names)
            case SubscribeHooks(hooks=hooks):
                self._beside.hooks.subscribe(hooks)
                self._telling.info()
            case ReadTask() | StopTask():
                group.create_task(self._telling.errors(self._beside.side_work.follow(command)))
            case RunShell(on_terminal=True):
                await self._personal(command)
            case (
                RunShell()
                | StopShell()
                | ListSessions()
                | PreviewSession()
                | RenameSession()
                | DeleteSession()
                | LookForModels()
                | ConnectModel()
                | ListSettings()
                | ChangeSetting()
            ):
                group.create_task(self._telling.errors(self._personal(command)))
            case CompleteArgument(command=name, text=text):
                group.create_task(self._telling.errors(self._slash.complete(name, text)))
            case SaveRecording():
                if self._recorder is not None:
                    await self._recorder.save()
            case Shutdown():
                pass
            case _:
                await self._journey.travel(command)

    async def _personal(self, command: PersonalCommand) -> None:
        if self._users_room is not None:
            await self._users_room.follow(command)

    def _mode_changed(self) -> None:
        self._approval.answer_what_is_granted()
        self._telling.info()
