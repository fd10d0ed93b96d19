"""KimiTui: one session of the agent, for as long as an `async with` block lasts."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from kimi_tui.api.asking import AnswerQuestions, Approve, Asking
from kimi_tui.api.front import Front
from kimi_tui.api.opening import Wish, options_of
from kimi_tui.api.output import Shape, shaped
from kimi_tui.api.result import TurnError
from kimi_tui.api.tools import own_tool
from kimi_tui.api.travel import outcome_of
from kimi_tui.api.turn import Turn
from kimi_tui.base.content import ContentPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.secrets import blacked_out
from kimi_tui.compaction.strategy import CompactionStrategy
from kimi_tui.engine.build import open_engine
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
from kimi_tui.wire.timeline import Reverted, RevertPlan, RevertScope, Timeline

logger = logging.getLogger(__name__)

T = TypeVar("T")
StrPath = str | PathLike[str]


class KimiTui:
    """One session. Make it with `create` and enter it; what it has started is ended when it is left.

    Everything belongs to the event loop that it was entered on. Errors are KimiTuiErrors, with a sentence of
    what happened and one of what to do.
    """

    def __init__(self, wish: Wish, asking: Asking) -> None:
        self._wish = wish
        self._asking = asking
        self._wire = Wire()
        self._tasks = asyncio.TaskGroup()
        self._front: Front | None = None
        self._serving: asyncio.Task[None] | None = None

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
        thinking: bool | None = None,
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
        share_dir: StrPath | None = None,
        demo: bool = False,
    ) -> Self:
        """A session that is opened when it is entered: `async with KimiTui.create(...) as agent`.

        `model` is a name of the config, `compaction` a strategy or its class's name, `agent` a name or the
        file of one. `approve` decides on what has to be approved; without it that is denied, unless `yolo`
        approves all that no rule denies. `answer` answers the model's questions. `session` resumes the
        session of that id, `continue_last` the last one of the work dir, and `fork` a copy of it. `mcp` are
        more MCP servers by their names, `tools` functions of yours that the model may call, and `sandbox` has
        its commands run in a sandbox. `settings` go over those of the config files and the environment.
        `max_steps` and `max_time_s` (seconds) are limits of a turn, `max_cost_usd` of the session. `demo`
        works with the offline demo model.

        Raises UsageError for a function that is no tool. Entering raises ConfigError, ModelNotSet,
        SessionError and UsageError.
        """
        wish = Wish(
            work_dir=Path(work_dir),
            share_dir=Path(share_dir) if share_dir is not None else None,
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
            tools=tuple(map(own_tool, tools)),
            sandbox=sandbox,
            yolo=yolo,
            plan=plan,
            max_steps=max_steps,
            max_cost_usd=max_cost_usd,
            max_time_s=max_time_s,
            settings=settings or {},
        )
        return cls(wish, Asking(approve=approve, answer=answer))

    async def __aenter__(self) -> Self:
        options = await asyncio.to_thread(options_of, self._wish)
        engine = await open_engine(self._wire, options)
        await self._tasks.__aenter__()
        self._front = Front(wire=self._wire, asking=self._asking, tasks=self._tasks)
        self._tasks.create_task(self._front.follow())
        self._serving = self._tasks.create_task(self._serve(engine, self._front))
        try:
            await self._front.opened.wait()
            if self._front.failure is not None:
                raise self._front.failure
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
        """Say something to the model. Its turn runs from now on, or as soon as those before it have ended.

        A prompt that begins with a slash goes to the model like any other: commands are for `command`.
        """
        user_input = prompt if isinstance(prompt, str) else tuple(prompt)
        return self._entered.begin(user_input, Prompt(user_input))

    @overload
    async def ask(self, prompt: str | Sequence[ContentPart]) -> str: ...
    @overload
    async def ask(self, prompt: str | Sequence[ContentPart], *, output: type[T]) -> T: ...
    @overload
    async def ask(self, prompt: str | Sequence[ContentPart], *, output: Mapping[str, Any]) -> Any: ...
    async def ask(
        self, prompt: str | Sequence[ContentPart], *, output: type[Any] | Mapping[str, Any] | None = None
    ) -> Any:
        """The model's answer: text, or a value of the type or JSON schema that `output` names.

        Raises TurnError when the turn doesn't finish, OutputMisfit when no answer fits in three attempts,
        UsageError for an `output` that can't be asked for. Cancelled, it interrupts the turn.
        """
        if output is None:
            return await self._said(prompt)
        return await shaped(Shape(output), prompt, self._said)

    async def _said(self, prompt: str | Sequence[ContentPart]) -> str:
        turn = self.run(prompt)
        try:
            result = await turn
        finally:
            turn.interrupt()
        if result.outcome != "finished":
            raise TurnError(result)
        return result.text

    def steer(self, text: str | Sequence[ContentPart]) -> None:
        """Say something to the turn that runs; its next step sees it. Raises KimiTuiError when none does."""
        if self._entered.at_rest:
            raise KimiTuiError("No turn is running.", hint="Use `run` to begin one.")
        self._wire.command(Steer(text if isinstance(text, str) else tuple(text)))

    def command(self, line: str) -> Turn:
        """Run a command that works on the conversation as a turn does, such as `/compact` or a skill.

        Raises KimiTuiError for one that doesn't exist, or that takes no turn.
        """
        words = line.strip().removeprefix("/")
        name = words.partition(" ")[0]
        known = self.info.command(name)
        if known is None or not known.takes_turn:
            usable = ", ".join(f"/{it.name}" for it in self.info.slash_commands if it.takes_turn)
            raise KimiTuiError(f"/{name} can't be run as a turn.", hint=f"These can: {usable}.")
        return self._entered.begin(f"/{words}", RunSlash(words))

    # the session

    @property
    def info(self) -> SessionInfo:
        """Which session this is: its id, work dir, model, agent, commands and tools."""
        info = self._entered.info
        if info is None:
            raise _not_entered()
        return info

    @property
    def session_id(self) -> str:
        """What `session` takes to resume it."""
        return self.info.session_id

    # time travel: between turns

    async def timeline(self) -> Timeline:
        """Every checkpoint of every branch. Raises KimiTuiError, as all that follows does."""
        return await outcome_of(self._wire, ShowTimeline(), Timeline)

    async def plan_revert(self, to: int, *, scope: RevertScope = "both") -> RevertPlan:
        """What `revert` would do, file by file. Nothing is done yet."""
        return await outcome_of(self._wire, PlanRevert(to, scope), RevertPlan)

    async def revert(
        self, to: int, *, scope: RevertScope = "both", paths: Sequence[str] | None = None, note: str = ""
    ) -> Reverted:
        """Go back to just before checkpoint `to`; what is left behind becomes a branch.

        Of the files, those at `paths` go back, as the plan names them; None for those that the plan ticks.
        `note` is what the model reads there.
        """
        return await outcome_of(self._wire, Revert(to, scope, _paths(paths), note), Reverted)

    async def undo(self, *, paths: Sequence[str] | None = None) -> Reverted:
        """Take the last revert back."""
        return await outcome_of(self._wire, Undo(_paths(paths)), Reverted)

    async def redo(self, *, paths: Sequence[str] | None = None) -> Reverted:
        """Take the last undo back."""
        return await outcome_of(self._wire, Redo(_paths(paths)), Reverted)

    async def switch_branch(self, branch: int, *, to: int | None = None) -> Reverted:
        """Go on where a branch ended, or just before its checkpoint `to`."""
        return await outcome_of(self._wire, SwitchBranch(branch, to), Reverted)

    # behind it

    @property
    def _entered(self) -> Front:
        if self._front is None:
            raise _not_entered()
        return self._front

    async def _serve(self, engine: Engine, front: Front) -> None:
        try:
            await engine.serve()
        except KimiTuiError as error:
            front.failure = error
        except Exception as error:
            logger.exception("the engine failed")
            what = blacked_out(f"An internal error ended the session: {type(error).__name__}: {error}.")
            front.failure = KimiTuiError(what, hint="Report it with the traceback that was logged.")
        finally:
            self._wire.close()

    async def _close(self) -> None:
        """End what runs, save, and leave nothing behind. What failed in the caller's block stays as it is."""
        self._wire.command(Shutdown())
        try:
            if self._serving is not None:
                await asyncio.wait([self._serving])
        finally:
            if self._serving is not None:
                self._serving.cancel()
            await self._tasks.__aexit__(None, None, None)


def _paths(paths: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if paths is None else tuple(paths)


def _not_entered() -> KimiTuiError:
    return KimiTuiError("The session isn't open.", hint="Use `async with KimiTui.create(...) as agent`.")
