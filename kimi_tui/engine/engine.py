"""One session behind the Wire: commands in, events out."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.accounts import Accounts
from kimi_tui.engine.acts import SessionActs
from kimi_tui.engine.client_tools import client_tools
from kimi_tui.engine.journey import Journey
from kimi_tui.engine.mcp.session_mcp import SessionMcp
from kimi_tui.engine.models import Models
from kimi_tui.engine.modes import Modes
from kimi_tui.engine.plan_command import plan_command
from kimi_tui.engine.recorder import Recorder
from kimi_tui.engine.session_hooks import SessionHooks
from kimi_tui.engine.side_questions import SideQuestions
from kimi_tui.engine.side_work import SideWork
from kimi_tui.engine.slash import own_commands
from kimi_tui.engine.slash_book import AnyCommand, PromptCommand, SlashBook, SlashCommand
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.engine.title import Title
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.travel_slash import travel_commands
from kimi_tui.engine.turns import Turns
from kimi_tui.engine.users_room import UsersRoom
from kimi_tui.history import notation
from kimi_tui.history.session import Session
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.approval import WireApproval
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.soul import Soul
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
from kimi_tui.wire.completion import ArgumentChoices, CompleteArgument
from kimi_tui.wire.events import TodoUpdate
from kimi_tui.wire.settings import ChangeSetting, ListSettings
from kimi_tui.wire.setup import ConnectModel, LookForModels

logger = logging.getLogger(__name__)


class Engine:
    """Serves one session until it is told to shut down."""

    def __init__(
        self,
        *,
        wire: Wire,
        session: Session,
        soul: Soul,
        agent: Agent,
        behaviour: Behaviour,
        approval: WireApproval,
        todos: SessionTodos,
        models: Models,
        time_machine: TimeMachine,
        telling: Telling,
        modes: Modes,
        side_questions: SideQuestions,
        accounts: Accounts,
        hooks: SessionHooks,
        side_work: SideWork,
        commands: Sequence[AnyCommand],
        mcp: SessionMcp | None = None,
        users_room: UsersRoom | None = None,
        remembered: Mapping[str, Any],
        max_time_s: float | None,
        resources: AsyncExitStack,
    ) -> None:
        self._wire = wire
        self._session = session
        self._soul = soul
        self._agent = agent
        self._behaviour = behaviour
        self._approval = approval
        self._todos = todos
        self._models = models
        self._time_machine = time_machine
        self._telling = telling
        self._modes = modes
        self._side_questions = side_questions
        self._accounts = accounts
        self._hooks = hooks
        self._side_work = side_work
        self._remembered = remembered
        self._resources = resources
        self._turns = Turns(
            soul, send=wire.send, max_time_s=max_time_s, files=time_machine.files.take_changed_by_tools
        )
        self._title = Title(session)
        self._acts = SessionActs(
            turns=self._turns,
            soul=soul,
            travels=time_machine.travels,
            todos=todos,
            title=self._title,
            telling=telling,
        )
        self._journey = Journey(self._acts, telling=telling.errors, goes_on=wire.goes_on)
        self._mcp = mcp
        self._users_room = users_room
        modes.changed = self._mode_changed
        self._book = SlashBook(
            (
                *own_commands(self._acts),
                *travel_commands(self._journey),
                plan_command(modes),
                side_questions.command,
                *commands,
            ),
            changed=telling.info,
        )
        if mcp is not None:
            mcp.lend_commands = partial(self._book.lend, "mcp")
        telling.hooks = lambda: hooks.counts
        telling.slash_commands = lambda: tuple(it.info for it in self._book.commands)
        self._preparing: asyncio.Task[None] | None = None
        self._recorder: Recorder | None = None

    async def serve(self) -> None:
        """Replay what the session holds, then follow commands until Shutdown.

        Closes the Wire and everything that was opened for the session at the end.
        """
        try:
            await self._time_machine.settle()
            await self._introduce()
            self._recorder = Recorder(self._session.wire_file, self._wire.subscribe())
            async with asyncio.TaskGroup() as group:
                group.create_task(self._recorder.run())
                group.create_task(self._accounts.keep(self._wire.subscribe()))
                answering = group.create_task(self._side_questions.serve())
                travelling = group.create_task(self._time_machine.run())
                connecting = group.create_task(self._mcp.run()) if self._mcp is not None else None
                try:
                    self._journey.begin(group)
                    self._hooks.begin(group)
                    self._prepare_model(group)
                    await self._follow_commands(group)
                finally:
                    await self._turns.stop()
                    self._journey.interrupt()
                    travelling.cancel()
                    await self._side_work.close()
                    answering.cancel()
                    await asyncio.wait([answering])
                    if connecting is not None:
                        connecting.cancel()
                        await asyncio.wait([connecting])
                    if self._preparing is not None:
                        self._preparing.cancel()
                    await self._hooks.end()
                    self._wire.close()
        finally:
            self._wire.close()
            await self._resources.aclose()

    def _prepare_model(self, group: asyncio.TaskGroup) -> None:
        """Load what the first turn needs while the user still types: the provider's SDK before all."""
        if self._preparing is not None:
            self._preparing.cancel()
        if self._behaviour.llm is not None:
            self._preparing = group.create_task(_prepared(self._soul))

    async def _introduce(self) -> None:
        self._telling.info()
        await self._telling.first_past()
        if self._todos.items:
            self._wire.send(TodoUpdate(self._todos.items))
        self._telling.damage()
        self._modes.tell()
        self._side_work.introduce()
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
                group.create_task(self._telling.errors(self._remember(self._title.suggested_by(user_input))))
            case Interrupt() if self._turns.is_running:
                self._turns.interrupt()
            case Interrupt():
                if not self._journey.interrupt():
                    self._side_questions.drop()
            case RunSlash(line=line):
                await self._run_slash(line, group)
            case SetModel(name=name):
                await self._set_model(name, group)
            case SetThinking(enabled=enabled):
                self._modes.set_thinking(enabled)
            case SetYolo(enabled=enabled):
                await self._modes.set_yolo(enabled)
            case SetAcceptEdits(enabled=enabled):
                await self._modes.set_accept_edits(enabled)
            case SetPlanMode(enabled=enabled):
                await self._modes.set_plan_mode(enabled)
            case RegisterTools(tools=tools):
                self._agent.toolset.lend(client_tools(self._wire, tools))
            case LeaveOutTools(names=names):
                self._agent.toolset.leave_out(names)
            case SubscribeHooks(hooks=hooks):
                self._hooks.subscribe(hooks)
                self._telling.info()
            case ReadTask() | StopTask():
                group.create_task(self._telling.errors(self._side_work.follow(command)))
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
                group.create_task(self._telling.errors(self._complete(name, text)))
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

    async def _complete(self, name: str, text: str) -> None:
        self._wire.send(ArgumentChoices(name, text, await self._book.choices(name, text)))

    def _mode_changed(self) -> None:
        self._approval.answer_what_is_granted()
        self._telling.info()

    async def _remember(self, title: str) -> None:
        """Keep what a resumed session needs beside the conversation: its name, its folders, its agent."""
        changes: dict[str, Any] = ({"title": title} if title else {}) | self._modes.unsaved
        state = self._session.state
        changes |= {name: it for name, it in self._remembered.items() if getattr(state, name) != it}
        if changes:
            await self._session.update_state(**changes)
            self._telling.info()

    async def _run_slash(self, line: str, group: asyncio.TaskGroup) -> None:
        found = self._book.find(line)
        if found is None:
            name = plain_line(line).partition(" ")[0]
            raise KimiTuiError(f"There is no command /{name}.", hint="/help lists those that there are.")
        command, argument = found
        shown = f"/{line.strip()}"
        match command:
            case PromptCommand():
                self._turns.add(shown, group, lambda: self._say(command, argument, shown))
            case SlashCommand(takes_turn=True):
                self._turns.add(shown, group, lambda: command.run(argument), steerable=False)
            case SlashCommand():
                await command.run(argument)
            case _:
                assert_never(command)

    async def _say(self, command: PromptCommand, argument: str, typed: str) -> None:
        await self._soul.run(await command.prompt(argument), typed=typed)

    async def _set_model(self, name: str, group: asyncio.TaskGroup) -> None:
        self._behaviour.llm = self._models.named(name)
        self._prepare_model(group)
        self._telling.info()
        self._soul.send_status()
        await self._session.update_state(model=name)


async def _prepared(soul: Soul) -> None:
    """What goes wrong here goes wrong again at the first turn, which tells."""
    try:
        await asyncio.to_thread(notation.prepare)
        await soul.prepare()
    except Exception:
        logger.info("the model could not be prepared", exc_info=True)
