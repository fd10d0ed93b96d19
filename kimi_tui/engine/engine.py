"""One session behind the Wire: commands in, events out."""

import asyncio
import logging
from collections import deque
from contextlib import AsyncExitStack, suppress
from typing import assert_never

from kimi_tui.base.content import UserInput, text_of
from kimi_tui.base.errors import ChatProviderError, KimiTuiError, MaxStepsReached
from kimi_tui.base.identity import new_id
from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.client_tools import client_tools
from kimi_tui.engine.models import Models
from kimi_tui.engine.recorder import Recorder, recorded_results
from kimi_tui.engine.replay import replayed
from kimi_tui.engine.slash import SLASH_COMMANDS, find_slash_command
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.soul.approval import WireApproval
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.limits import LimitReached
from kimi_tui.soul.soul import Agent, Soul, TurnRejected
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    Command,
    Interrupt,
    Prompt,
    RegisterTools,
    RunSlash,
    SaveRecording,
    SetModel,
    SetThinking,
    SetYolo,
    Shutdown,
    Steer,
)
from kimi_tui.wire.events import (
    Notification,
    ReplayBegin,
    ReplayEnd,
    Reverted,
    SessionInfo,
    TodoUpdate,
    TurnBegin,
    TurnEnd,
    TurnFailure,
    TurnOutcome,
)

logger = logging.getLogger(__name__)

TITLE_LENGTH = 60


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
        self._max_time_s = max_time_s
        self._resources = resources
        self._prompts: deque[UserInput] = deque()
        self._turn: asyncio.Task[None] | None = None
        self._recorder: Recorder | None = None

    async def serve(self) -> None:
        """Replay what the session holds, then follow commands until Shutdown.

        Closes the Wire and everything that was opened for the session at the end.
        """
        try:
            self._introduce()
            self._recorder = Recorder(self._session.wire_file, self._wire.subscribe())
            async with asyncio.TaskGroup() as group:
                group.create_task(self._recorder.run())
                preparing = group.create_task(self._prepare_model())
                try:
                    await self._follow_commands(group)
                finally:
                    preparing.cancel()
                    await self._stop_turn()
                    self._wire.close()
        finally:
            await self._resources.aclose()

    async def _prepare_model(self) -> None:
        """Load the provider's SDK while the user still types; what is wrong shows at the first turn."""
        if self._behaviour.llm is not None:
            with suppress(ChatProviderError):
                await self._behaviour.llm.chat_provider.prepare()

    def _introduce(self) -> None:
        self._send_info()
        self._replay()
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
            try:
                await self._follow(command, group)
            except KimiTuiError as error:
                self._notify(error.what, error.hint, severity="error")

    async def _follow(self, command: Command, group: asyncio.TaskGroup) -> None:
        match command:
            case Prompt(user_input=user_input):
                self._prompts.append(user_input)
                self._start_turn(group)
            case Steer(user_input=user_input):
                if self._turn is not None:
                    self._soul.steer(user_input)
                else:
                    self._prompts.append(user_input)
                    self._start_turn(group)
            case Interrupt():
                if self._turn is not None:
                    self._turn.cancel()
            case RunSlash(line=line):
                await self._run_slash(line)
            case SetModel(name=name):
                await self._set_model(name)
            case SetThinking(enabled=enabled):
                self._behaviour.thinking = enabled
                self._send_info()
            case SetYolo(enabled=enabled):
                self._behaviour.yolo = enabled
                await self._session.update_state(yolo=enabled)
                self._approval.answer_what_is_granted()
                self._send_info()
            case RegisterTools(tools=tools):
                self._agent.toolset.lend(client_tools(self._wire, tools))
            case SaveRecording():
                if self._recorder is not None:
                    await self._recorder.save()
            case Shutdown():
                pass
            case _:
                assert_never(command)

    # turns

    def _start_turn(self, group: asyncio.TaskGroup) -> None:
        if self._turn is None and self._prompts:
            self._turn = group.create_task(self._run_turn(self._prompts.popleft(), group))

    async def _run_turn(self, user_input: UserInput, group: asyncio.TaskGroup) -> None:
        self._wire.send(TurnBegin(user_input))
        outcome: TurnOutcome = "cancelled"
        failure: TurnFailure | None = None
        try:
            await self._name_session(user_input)
            async with asyncio.timeout(self._max_time_s):
                await self._soul.run(user_input)
            outcome = "finished"
        except asyncio.CancelledError:
            logger.info("turn cancelled")
        except TurnRejected:
            outcome = "rejected"
        except MaxStepsReached as error:
            outcome, failure = "max_steps", _failure(error)
        except LimitReached as error:
            outcome, failure = "limit", _failure(error)
        except TimeoutError:
            what = f"The turn took longer than its limit of {self._max_time_s:g} s."
            outcome, failure = "limit", TurnFailure(what, "Raise --max-time to go on.", "LimitReached")
        except KimiTuiError as error:
            outcome, failure = "failed", _failure(error)
        except Exception as error:
            logger.exception("turn failed")
            what = f"An internal error ended the turn: {type(error).__name__}: {error}."
            outcome, failure = "failed", TurnFailure(what, "The log has the details.", type(error).__name__)
        finally:
            self._turn = None
            self._wire.send(TurnEnd(outcome, self._soul.steps, failure))
        self._start_turn(group)

    async def _stop_turn(self) -> None:
        self._prompts.clear()
        turn = self._turn
        if turn is not None:
            turn.cancel()
            await asyncio.wait([turn])

    async def _name_session(self, user_input: UserInput) -> None:
        if not self._session.state.title:
            await self.set_title(plain_line(text_of(user_input))[:TITLE_LENGTH] or "untitled")

    # what slash commands do

    async def _run_slash(self, line: str) -> None:
        found = find_slash_command(line)
        if found is None:
            raise KimiTuiError(
                f"There is no command /{line.split(' ')[0]}.", hint="/help lists those that there are."
            )
        command, argument = found
        await command.run(self, argument)

    async def clear(self) -> None:
        """Empty the conversation; what was said stays as a branch. Raises KimiTuiError while a turn runs."""
        if self._turn is not None:
            raise KimiTuiError("A turn is running.", hint="Interrupt it first, then /clear.")
        reversion = await self._context.clear()
        await self._todos.set(())
        self._wire.send(Reverted(reversion.to, reversion.from_id, "clear", reversion.branch))
        self._soul.send_status()

    async def set_title(self, title: str) -> None:
        """Name the session. Raises KimiTuiError without a name."""
        if not title:
            raise KimiTuiError("A title needs a name.", hint="Type /title NAME.")
        await self._session.update_state(title=title)
        self._send_info()

    async def _set_model(self, name: str) -> None:
        self._behaviour.llm = self._models.named(name)
        await self._session.update_state(model=name)
        self._send_info()
        self._soul.send_status()

    # telling

    def _replay(self) -> None:
        if not self._context.history:
            return
        self._wire.send(ReplayBegin())
        for event in replayed(self._context.history, recorded_results(self._session.wire_file)):
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

    def _notify(self, title: str, body: str, *, severity: str) -> None:
        self._wire.send(
            Notification(
                id=new_id(),
                category="session",
                type="notice",
                source_kind="engine",
                source_id=self._session.id,
                title=title,
                body=body,
                severity="error" if severity == "error" else "warning",
            )
        )


def _failure(error: KimiTuiError) -> TurnFailure:
    return TurnFailure(
        error.what,
        error.hint,
        type(error).__name__,
        getattr(error, "status_code", None),
        bool(getattr(error, "retryable", False)),
    )
