"""One session behind the Wire: commands in, events out."""

import asyncio
import logging
from collections.abc import Awaitable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal, assert_never

from kimi_tui.base.content import UserInput, text_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.identity import new_id
from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.client_tools import client_tools
from kimi_tui.engine.models import Models
from kimi_tui.engine.recorder import Recorder, recorded_results
from kimi_tui.engine.replay import replayed
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.slash import SLASH_COMMANDS, find_slash_command
from kimi_tui.engine.time_travel import TimeTravel
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.turns import Turns
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.llm.provider import ChatProvider
from kimi_tui.soul.approval import WireApproval
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.soul import Agent, Soul
from kimi_tui.tools.workspace import showable
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    Command,
    Interrupt,
    PlanRevert,
    Prompt,
    Redo,
    RegisterTools,
    Revert,
    RunSlash,
    SaveRecording,
    SetModel,
    SetThinking,
    SetYolo,
    Shutdown,
    Steer,
    Undo,
)
from kimi_tui.wire.events import (
    Notification,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    TodoUpdate,
)

logger = logging.getLogger(__name__)

TITLE_LENGTH = 60
Severity = Literal["info", "warning", "error"]


class Engine:
    """Serves one session until it is told to shut down."""

    def __init__(
        self,
        *,
        wire: Wire,
        session: Session,
        context: Context,
        soul: Soul,
        agent: Agent,
        behaviour: Behaviour,
        approval: WireApproval,
        todos: SessionTodos,
        models: Models,
        files: SessionFiles,
        time_travel: TimeTravel,
        additional_dirs: Iterable[Path],
        max_time_s: float | None,
        resources: AsyncExitStack,
    ) -> None:
        self._wire = wire
        self._session = session
        self._context = context
        self._soul = soul
        self._agent = agent
        self._behaviour = behaviour
        self._approval = approval
        self._todos = todos
        self._models = models
        self._files = files
        self._time_travel = time_travel
        self._additional_dirs = tuple(map(str, additional_dirs))
        self._is_named = bool(session.state.title)
        """Whether the session has its name, or is being given it."""
        self._resources = resources
        self._turns = Turns(soul, send=wire.send, max_time_s=max_time_s)
        self._preparing: asyncio.Task[None] | None = None
        self._recorder: Recorder | None = None

    async def serve(self) -> None:
        """Replay what the session holds, then follow commands until Shutdown.

        Closes the Wire and everything that was opened for the session at the end.
        """
        try:
            await self._introduce()
            self._recorder = Recorder(self._session.wire_file, self._wire.subscribe())
            async with asyncio.TaskGroup() as group:
                group.create_task(self._recorder.run())
                try:
                    self._prepare_model(group)
                    group.create_task(self._telling_errors(self._look_at_files()))
                    await self._follow_commands(group)
                finally:
                    await self._turns.stop()
                    if self._preparing is not None:
                        self._preparing.cancel()
                    self._wire.close()
        finally:
            self._wire.close()
            await self._resources.aclose()

    def _prepare_model(self, group: asyncio.TaskGroup) -> None:
        """Load the provider's SDK while the user still types."""
        if self._preparing is not None:
            self._preparing.cancel()
        if self._behaviour.llm is not None:
            self._preparing = group.create_task(_prepared(self._behaviour.llm.chat_provider))

    async def _look_at_files(self) -> None:
        """Take the first state while the user still types."""
        completed = await self._files.start()
        if completed is not None:
            failed = "; ".join(f"{showable(path)}: {why}" for path, why in completed.failed)
            left = f" Left as they are: {failed}." if failed else ""
            self._notify(
                "A revert that had been interrupted was completed",
                f"{len(completed.done)} file(s) are as it wanted them.{left}",
                severity="warning",
            )

    async def _introduce(self) -> None:
        self._send_info()
        await self._replay()
        if self._todos.items:
            self._wire.send(TodoUpdate(self._todos.items))
        if self._session.problem:
            self._notify("The session's state was damaged", self._session.problem, severity="warning")
        for repair in self._context.repairs:
            self._notify("The session's journal was repaired", repair.description, severity="warning")
        self._soul.send_status()

    async def _follow_commands(self, group: asyncio.TaskGroup) -> None:
        async for command in self._wire.commands():
            if isinstance(command, Shutdown):
                return
            await self._telling_errors(self._follow(command, group))

    async def _telling_errors(self, work: Awaitable[None]) -> None:
        try:
            await work
        except KimiTuiError as error:
            self._notify(error.what, error.hint, severity="error")
        except Exception as error:
            logger.exception("a command failed")
            what = f"An internal error: {type(error).__name__}: {error}."
            self._notify(what, "The log has the details.", severity="error")

    async def _follow(self, command: Command, group: asyncio.TaskGroup) -> None:
        match command:
            case Steer(user_input=user_input) if self._turns.can_be_steered:
                self._soul.steer(user_input)
            case Prompt(user_input=user_input) | Steer(user_input=user_input):
                self._turns.add(user_input, group)
                # Beside the commands: the one that interrupts this turn must not wait for a slow disk.
                group.create_task(self._telling_errors(self._remember(self._new_title(user_input))))
            case Interrupt():
                self._turns.interrupt()
            case RunSlash(line=line):
                await self._run_slash(line, group)
            case SetModel(name=name):
                await self._set_model(name, group)
            case SetThinking(enabled=enabled):
                self._behaviour.thinking = enabled
                self._send_info()
            case SetYolo(enabled=enabled):
                self._behaviour.yolo = enabled
                self._approval.answer_what_is_granted()
                self._send_info()
                await self._session.update_state(yolo=enabled)
            case PlanRevert() | Revert() | Undo() | Redo():
                await self.travel(command)
            case RegisterTools(tools=tools):
                self._agent.toolset.lend(client_tools(self._wire, tools))
            case SaveRecording():
                if self._recorder is not None:
                    await self._recorder.save()
            case Shutdown():
                pass
            case _:
                assert_never(command)

    def _new_title(self, user_input: UserInput) -> str:
        """What to call a session that begins with `user_input`; empty when it has its name."""
        title = "" if self._is_named else plain_line(text_of(user_input))[:TITLE_LENGTH]
        self._is_named = self._is_named or bool(title)
        return title

    async def _remember(self, title: str) -> None:
        """Keep what a resumed session needs beside the conversation: its name and its folders."""
        changes: dict[str, Any] = {"title": title} if title else {}
        if self._additional_dirs != self._session.state.additional_dirs:
            changes["additional_dirs"] = self._additional_dirs
        if changes:
            await self._session.update_state(**changes)
            self._send_info()

    # what slash commands do

    async def _run_slash(self, line: str, group: asyncio.TaskGroup) -> None:
        found = find_slash_command(line)
        if found is None:
            name = plain_line(line).partition(" ")[0]
            raise KimiTuiError(f"There is no command /{name}.", hint="/help lists those that there are.")
        command, argument = found
        if command.takes_turn:
            self._turns.add(f"/{line.strip()}", group, lambda: command.run(self, argument))
        else:
            await command.run(self, argument)

    async def clear(self) -> None:
        """Empty the conversation; undo leads back to it. Raises KimiTuiError while a turn runs."""
        self._require_rest()
        if not await self._time_travel.clear():
            return
        if self._todos.items:
            await self._todos.set(())
        self._soul.send_status()

    async def travel(self, command: PlanRevert | Revert | Undo | Redo) -> None:
        """Go to another checkpoint, or show what that would do. Raises KimiTuiError while a turn runs."""
        self._require_rest()
        await self._time_travel.travel(command)
        self._soul.send_status()

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        self._notify("Checkpoints", self._time_travel.listed(), severity="info")

    def _require_rest(self) -> None:
        if self._turns.is_running:
            raise KimiTuiError("A turn is running.", hint="Interrupt it first.")

    async def compact(self, focus: str) -> None:
        """Make the conversation shorter. Raises KimiTuiError when that fails."""
        if not await self._soul.compact(focus):
            self._notify("There is nothing to compact yet.", "", severity="info")

    async def set_title(self, title: str) -> None:
        """Name the session. Raises KimiTuiError without a name."""
        title = plain_line(title)
        if not title:
            raise KimiTuiError("A title needs a name.", hint="Type /title NAME.")
        self._is_named = True
        await self._session.update_state(title=title)
        self._send_info()

    async def _set_model(self, name: str, group: asyncio.TaskGroup) -> None:
        self._behaviour.llm = self._models.named(name)
        self._prepare_model(group)
        self._send_info()
        self._soul.send_status()
        await self._session.update_state(model=name)

    # telling

    async def _replay(self) -> None:
        if not self._context.history:
            return
        results = await asyncio.to_thread(recorded_results, self._session.wire_file)
        self._wire.send(ReplayBegin())
        for event in replayed(self._context.history, results):
            self._wire.send(event)
        self._wire.send(ReplayEnd())

    def _send_info(self) -> None:
        llm = self._behaviour.llm
        self._wire.send(
            SessionInfo(
                session_id=self._session.id,
                work_dir=str(self._session.work_dir),
                title=self._session.state.title,
                model=llm.name if llm is not None else "",
                model_kind=llm.kind if llm is not None else "",
                agent=self._agent.name,
                thinking=self._behaviour.thinking,
                yolo=self._behaviour.yolo,
                capabilities=tuple(sorted(llm.capabilities)) if llm is not None else (),
                slash_commands=tuple(command.info for command in SLASH_COMMANDS),
                models=tuple(self._models.names),
                tools=self._agent.toolset.names,
                recording=str(self._session.wire_file),
            )
        )

    def _notify(self, title: str, body: str, *, severity: Severity) -> None:
        self._wire.send(
            Notification(
                id=new_id(),
                category="session",
                type="notice",
                source_kind="engine",
                source_id=self._session.id,
                title=title,
                body=body,
                severity=severity,
            )
        )


async def _prepared(provider: ChatProvider) -> None:
    """What goes wrong here goes wrong again at the first turn, which tells."""
    try:
        await provider.prepare()
    except Exception:
        logger.info("the model could not be prepared", exc_info=True)
