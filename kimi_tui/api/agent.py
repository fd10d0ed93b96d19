"""KimiTui: a session of the agent as an async context manager."""

import asyncio
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from kimi_tui.api.event_router import EventRouter
from kimi_tui.api.options import AgentOptions, engine_options
from kimi_tui.api.request_handlers import AnswerQuestions, Approve, RequestHandlers
from kimi_tui.api.structured_output import OutputSpec, ask_structured
from kimi_tui.api.timeline import await_outcome
from kimi_tui.api.tools import as_host_tool
from kimi_tui.api.turn import Turn
from kimi_tui.api.turn_result import TurnError
from kimi_tui.base.content_parts import ContentPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.redaction import redact
from kimi_tui.base.thinking_effort import ThinkingEffort
from kimi_tui.compaction.strategy import CompactionStrategy
from kimi_tui.engine.build.engine import build_engine
from kimi_tui.engine.engine import Engine
from kimi_tui.tools.tool import Tool
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    PlanRevert,
    Prompt,
    Redo,
    Revert,
    RunSlash,
    ShowTimeline,
    Shutdown,
    Steer,
    SwitchBranch,
    Undo,
)
from kimi_tui.wire.events import SessionInfo
from kimi_tui.wire.timeline import FileChoice, Reverted, RevertPlan, RevertScope, Timeline

logger = logging.getLogger(__name__)

T = TypeVar("T")
StrPath = str | PathLike[str]


class KimiTui:
    """One session. Create it with `create`, and open it with `async with`.

    Leaving the `async with` block stops all work of the session. Use the session only on the event loop that
    opened it. Errors are KimiTuiErrors with a message and a hint.
    """

    def __init__(self, options: AgentOptions, handlers: RequestHandlers) -> None:
        self._options = options
        self._handlers = handlers
        self._wire = Wire()
        self._tasks = asyncio.TaskGroup()
        self._router: EventRouter | None = None
        self._engine_task: asyncio.Task[None] | None = None

    @classmethod
    def create(
        cls,
        *,
        work_dir: StrPath = ".",
        model: str | None = None,
        compaction: CompactionStrategy | str | None = None,
        approve: Approve | None = None,
        answer: AnswerQuestions | None = None,
        yolo: bool = False,
        plan: bool | None = None,
        thinking: bool | ThinkingEffort | None = None,
        agent: str | Path | None = None,
        session: str | None = None,
        continue_last: bool = False,
        fork: bool = False,
        add_dirs: Sequence[StrPath] = (),
        skills_dirs: Sequence[StrPath] = (),
        mcp: Mapping[str, Any] | None = None,
        tools: Sequence[Callable[..., object] | type[Tool[Any]]] = (),
        sandbox: bool | None = None,
        max_steps: int | None = None,
        max_cost_usd: float | None = None,
        max_time_s: float | None = None,
        settings: Mapping[str, Any] | None = None,
        data_dir: StrPath | None = None,
        demo: bool = False,
        share_dir: StrPath | None = None,
    ) -> Self:
        """Return a session that opens when it's entered: `async with KimiTui.create(...) as agent`.

        Args:
            work_dir: Working directory of the agent.
            model: Name of a model in the config.
            compaction: Compaction strategy, or the name of its class.
            approve: Function that decides on permission requests. None: reject all, unless `yolo` is set.
            answer: Function that answers the model's questions.
            yolo: Approve everything that no ask or deny rule covers.
            plan: Start in plan mode.
            thinking: Thinking effort: `off`, `low`, `medium` or `high`. True means `high`.
            agent: Name of an agent, or path of an agent file.
            session: ID of the session to resume.
            continue_last: Resume the last session of the working directory.
            fork: Resume a copy of the session.
            add_dirs: Additional directories that the agent works in.
            skills_dirs: Directories to load skills from, instead of the default ones.
            mcp: Additional MCP servers, by name.
            tools: Functions or tool classes that the model may call.
            sandbox: Run commands in a sandbox.
            max_steps: Step limit per turn.
            max_cost_usd: Cost limit of the session, in US dollars.
            max_time_s: Time limit per turn, in seconds.
            settings: Settings that override the config files and the environment.
            data_dir: Data directory.
            demo: Use the offline demo model.
            share_dir: Deprecated; use `data_dir`.

        Raises UsageError for a function that can't be a tool. Entering the session raises ConfigError,
        ModelNotSet, SessionError and UsageError.
        """
        if share_dir is not None:
            warnings.warn("share_dir is deprecated; use data_dir", DeprecationWarning, stacklevel=2)
            data_dir = share_dir if data_dir is None else data_dir
        options = AgentOptions(
            work_dir=Path(work_dir),
            data_dir=Path(data_dir) if data_dir is not None else None,
            model=model,
            demo=demo,
            thinking=thinking,
            compaction=compaction,
            agent=agent,
            session=session,
            continue_last=continue_last,
            fork=fork,
            add_dirs=tuple(map(Path, add_dirs)),
            skills_dirs=tuple(map(Path, skills_dirs)),
            mcp=mcp,
            tools=tuple(map(as_host_tool, tools)),
            sandbox=sandbox,
            yolo=yolo,
            plan=plan,
            max_steps=max_steps,
            max_cost_usd=max_cost_usd,
            max_time_s=max_time_s,
            settings=settings or {},
        )
        return cls(options, RequestHandlers(approve=approve, answer=answer))

    async def __aenter__(self) -> Self:
        options = await asyncio.to_thread(engine_options, self._options)
        engine = await build_engine(self._wire, options)
        await self._tasks.__aenter__()
        self._router = EventRouter(wire=self._wire, handlers=self._handlers, tasks=self._tasks)
        self._tasks.create_task(self._router.route_events())
        self._engine_task = self._tasks.create_task(self._serve(engine, self._router))
        try:
            await self._router.opened.wait()
            if self._router.failure is not None:
                raise self._router.failure
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    # turns

    def run(self, prompt: str | Sequence[ContentPart]) -> Turn:
        """Send a prompt. Its turn starts after all earlier turns, even if you don't await it.

        A prompt that starts with a slash goes to the model like any other. Use `command` to run commands.
        """
        user_input = prompt if isinstance(prompt, str) else tuple(prompt)
        return self._active_router.enqueue_turn(user_input, Prompt(user_input))

    @overload
    async def ask(self, prompt: str | Sequence[ContentPart]) -> str: ...
    @overload
    async def ask(self, prompt: str | Sequence[ContentPart], *, output: type[T]) -> T: ...
    @overload
    async def ask(self, prompt: str | Sequence[ContentPart], *, output: Mapping[str, Any]) -> Any: ...
    async def ask(
        self, prompt: str | Sequence[ContentPart], *, output: type[Any] | Mapping[str, Any] | None = None
    ) -> Any:
        """Send a prompt and return the response: text, or a value of the type or JSON schema `output`.

        Raises TurnError if the turn doesn't finish, OutputValidationError if no response matches in three
        attempts, and UsageError if `output` has no JSON schema. Canceling the call interrupts the turn.
        """
        if output is None:
            return await self._ask_text(prompt)
        return await ask_structured(OutputSpec(output), prompt, self._ask_text)

    async def _ask_text(self, prompt: str | Sequence[ContentPart]) -> str:
        turn = self.run(prompt)
        try:
            result = await turn
        finally:
            turn.interrupt()
        if result.outcome != "finished":
            raise TurnError(result)
        return result.text

    def steer(self, text: str | Sequence[ContentPart]) -> None:
        """Steer the running turn: its next step sees `text`. Raises KimiTuiError if no turn is running."""
        if self._active_router.is_idle:
            raise KimiTuiError("No turn is running.", hint="Start one with `run`.")
        self._wire.command(Steer(text if isinstance(text, str) else tuple(text)))

    def command(self, line: str) -> Turn:
        """Run a command that takes a turn, such as `/compact` or a skill.

        Raises KimiTuiError if the command doesn't exist or doesn't take a turn.
        """
        text = line.strip().removeprefix("/")
        name = text.partition(" ")[0]
        command = self.info.find_command(name)
        if command is None or not command.takes_turn:
            available = ", ".join(f"/{it.name}" for it in self.info.slash_commands if it.takes_turn)
            raise KimiTuiError(f"/{name} can't be run as a turn.", hint=f"Use one of {available}.")
        return self._active_router.enqueue_turn(f"/{text}", RunSlash(text))

    # the session

    @property
    def info(self) -> SessionInfo:
        """The session's id, working directory, model, agent, commands and tools."""
        info = self._active_router.info
        if info is None:
            raise _not_entered_error()
        return info

    @property
    def session_id(self) -> str:
        """Id to resume the session with."""
        return self.info.session_id

    # timeline

    async def timeline(self) -> Timeline:
        """Return all checkpoints of all branches.

        This and the following methods work only between turns. They raise KimiTuiError.
        """
        return await await_outcome(self._wire, ShowTimeline(), Timeline)

    async def plan_revert(self, to: int, *, scope: RevertScope = "both") -> RevertPlan:
        """Return the changes that `revert` would make to each file, without making them."""
        return await await_outcome(self._wire, PlanRevert(to, scope), RevertPlan)

    async def revert(
        self,
        to: int,
        *,
        scope: RevertScope = "both",
        paths: Sequence[str] | None = None,
        note: str = "",
        choices: Sequence[FileChoice] = (),
    ) -> Reverted:
        """Revert to just before checkpoint `to`. The reverted messages become a branch.

        `paths` are the files to revert, as the plan names them. None: the files that the plan selects.
        `choices` are decisions about single files. `note` is a message for the model.
        """
        command = Revert(to, scope, _paths(paths), note, tuple(choices))
        return await await_outcome(self._wire, command, Reverted)

    async def undo(
        self, *, paths: Sequence[str] | None = None, choices: Sequence[FileChoice] = ()
    ) -> Reverted:
        """Undo the last revert."""
        return await await_outcome(self._wire, Undo(_paths(paths), tuple(choices)), Reverted)

    async def redo(
        self, *, paths: Sequence[str] | None = None, choices: Sequence[FileChoice] = ()
    ) -> Reverted:
        """Redo the last undone revert."""
        return await await_outcome(self._wire, Redo(_paths(paths), tuple(choices)), Reverted)

    async def switch_branch(self, branch: int, *, to: int | None = None) -> Reverted:
        """Switch to the end of a branch, or to just before its checkpoint `to`."""
        return await await_outcome(self._wire, SwitchBranch(branch, to), Reverted)

    # internals

    @property
    def _active_router(self) -> EventRouter:
        if self._router is None:
            raise _not_entered_error()
        return self._router

    async def _serve(self, engine: Engine, router: EventRouter) -> None:
        try:
            await engine.serve()
        except KimiTuiError as error:
            router.failure = error
        except Exception as error:
            logger.exception("the engine failed")
            what = redact(f"An internal error ended the session: {type(error).__name__}: {error}.")
            router.failure = KimiTuiError(what, hint="Report it with the traceback in the log.")
        finally:
            self._wire.close()

    async def _close(self) -> None:
        """Stop running work, save and release everything.

        Doesn't replace an exception of the caller's block.
        """
        self._wire.command(Shutdown())
        try:
            if self._engine_task is not None:
                await asyncio.wait([self._engine_task])
        finally:
            if self._engine_task is not None:
                self._engine_task.cancel()
            await self._tasks.__aexit__(None, None, None)


def _paths(paths: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if paths is None else tuple(paths)


def _not_entered_error() -> KimiTuiError:
    return KimiTuiError("The session isn't open.", hint="Use `async with KimiTui.create(...) as agent`.")
