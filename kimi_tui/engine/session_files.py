"""The session's files: their states at checkpoints and around tool calls, and whose changes are whose."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from kimi_tui.base.completion import carry_out
from kimi_tui.base.errors import FileProblem, KimiTuiError
from kimi_tui.base.message import ToolCall
from kimi_tui.engine.coverage import path_in, uncovered
from kimi_tui.engine.file_looks import WAIT_S, Busy, FileLooks, together
from kimi_tui.history.snapshots.owner import YOU, Owner
from kimi_tui.history.tree import NOT_YET
from kimi_tui.soul.file_states import FilesAtCheckpoint
from kimi_tui.tools.step_calls import Change
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.timeline import FileChanges

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.execution import Outcome
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.patience import Patience

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

NoteFiles = Callable[[int, str, FileChanges | None], Awaitable[None]]
"""Keeps the files' state of a checkpoint that was made before it was known."""


async def _unnoted(checkpoint_id: int, files: str, changes: FileChanges | None) -> None:
    """No checkpoint waits for its state."""


class SessionFiles:
    """`soul.FileStates`, and the way to the history itself.

    Checkpoints don't wait for a look at the files: `watch` finds their states out beside them. Tools that may
    change something do. A look that fails costs coverage: it is logged, checkpoints say why, and the turn
    goes on.
    """

    def __init__(
        self,
        looks: FileLooks,
        *,
        workspace: Workspace,
        enabled: bool,
        note: NoteFiles = _unnoted,
    ) -> None:
        self._looks = looks
        looks.whoever = self._whoever_it_was
        self._workspace = workspace
        self._enabled = enabled
        self._note = note
        self._due: list[int] = []
        """The checkpoints whose state is being found out."""
        self._wanted = asyncio.Event()
        self._since = FileChanges()
        """What was recorded since the last checkpoint."""
        self._by_tools: dict[str, None] = {}
        """The files that tools changed since somebody asked for them."""
        self._state = ""
        self._problem = NOT_YET if enabled else "the config says `files = false` under [checkpoints]"
        self._calls: list[Owner] = []
        """The calls under way that may change something, the newest last."""
        self._tasks: dict[str, Owner] = {}
        """The background tasks that run."""

    @property
    def are_kept(self) -> bool:
        """Whether the files' states are kept at all."""
        return self._enabled

    async def start(self) -> "Outcome | None":
        """Take the first state; what became of a revert that had been interrupted."""
        if self._enabled:
            await self._look(self._whoever_it_was)
        return self._looks.completed

    async def watch(self) -> None:
        """Find out the states of checkpoints as they are made, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            if self._due:
                await self._look(self._whoever_it_was)

    async def close(self) -> None:
        """Give up the look under way, and keep what is known for the next session."""
        await self._looks.close()

    def at_checkpoint(self, *, afresh: bool) -> FilesAtCheckpoint:
        """`FileStates.at_checkpoint`."""
        if not self._enabled:
            return FilesAtCheckpoint(self._problem)
        if afresh or self._due or not self._state:
            return FilesAtCheckpoint(NOT_YET, is_due=True)
        return FilesAtCheckpoint(self._state, self._taken())

    def find_out(self, checkpoint_id: int) -> None:
        """`FileStates.find_out`."""
        self._due.append(checkpoint_id)
        self._wanted.set()

    def around(self, call: ToolCall, change: Change, /) -> AbstractAsyncContextManager[None]:
        """`FileStates.around`."""
        return self._around(call, change, agent="")

    def of_agent(self, agent_id: str) -> "AgentFiles":
        """The same files for a sub-agent, whose checkpoints are those of another conversation."""
        return AgentFiles(self.at_present, lambda call, change: self._around(call, change, agent=agent_id))

    @asynccontextmanager
    async def background(self, task_id: str, command: str) -> AsyncIterator[None]:
        """Within, a background task runs: what changes while no call does was it or the user."""
        owner = Owner(who="background", session=self._looks.session, call=task_id, command=command)
        self._tasks[task_id] = owner
        try:
            yield
        finally:
            if self._enabled:
                await carry_out(self._look(self._whoever_it_was))
            del self._tasks[task_id]

    @asynccontextmanager
    async def users_command(self, command: str) -> AsyncIterator[None]:
        """Within, a command of the user's own runs: what it changes is the user's, whatever else runs."""
        if self._enabled:
            await self._look(self._whoever_it_was)
        try:
            yield
        finally:
            if self._enabled:
                await carry_out(self._look(lambda: replace(YOU, command=command)))

    async def now(self) -> FilesAtCheckpoint:
        """The files' state, looked at afresh, and what became of them since the last checkpoint.

        Raises Busy.
        """
        if self._enabled:
            await self._look(self._whoever_it_was, wait_s=WAIT_S)
        if not self._state:
            return FilesAtCheckpoint(self._problem)
        return FilesAtCheckpoint(self._state, self._taken())

    async def found_out(self) -> None:
        """Wait for the states that are being found out, as long as a look may be waited for."""
        if self._enabled and (self._due or not self._state):
            with suppress(Busy):
                await self._look(self._whoever_it_was, wait_s=WAIT_S)

    def since_checkpoint(self) -> FileChanges | None:
        """What became of the files since the newest checkpoint, as far as it is known."""
        return self._since if self._state and not self._due else None

    def take_changed_by_tools(self) -> tuple[str, ...]:
        """The files that tools changed since this was last asked."""
        changed, self._by_tools = tuple(self._by_tools), {}
        return changed

    def at_present(self) -> str:
        """The files' state as far as it is known, or why it isn't."""
        return self._state or self._problem

    async def not_covered(self) -> list[str]:
        """What is not covered, one a line."""
        if not self._enabled:
            return [f"The files are not covered: {self._problem}."]
        try:
            return await self.use(uncovered)
        except KimiTuiError as error:
            return [str(error)]

    async def use(
        self, act: "Callable[Concatenate[FileHistory, P], T]", *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Let `act` have the history, in a thread and alone.

        Raises what it raises; a KimiTuiError when the disk refuses.
        """
        return await self._looks.use(act, *args, **kwargs)

    async def look_through(self, act: "Callable[[FileHistory, Patience], T]") -> T:
        """The same for what may take long: front ends are told how far it is, and cancelled it stops soon."""
        return await self._looks.look_through(act)

    @asynccontextmanager
    async def _around(self, call: ToolCall, change: Change, *, agent: str) -> AsyncIterator[None]:
        paths = self._paths(change.files) if self._enabled else []
        if paths is not None and not paths:
            yield
            return
        with self._looks.delaying(call.function.name):
            await self._look(self._whoever_it_was, paths)
        owner = Owner(
            who="call",
            session=self._looks.session,
            call=call.id,
            tool=call.function.name,
            agent=agent,
            command=change.command,
        )
        self._calls.append(owner)
        try:
            yield
        finally:
            try:
                await carry_out(self._look(lambda: owner, paths))
            finally:
                self._calls.remove(owner)

    def _whoever_it_was(self) -> Owner:
        """Whose what has changed is, as far as can be told."""
        if self._calls:
            return self._calls[-1]
        return next(reversed(self._tasks.values()), YOU)

    async def _look(
        self, owner: Callable[[], Owner], paths: Collection[str] | None = None, *, wait_s: float | None = None
    ) -> None:
        from kimi_tui.history.snapshots.patience import Stopped

        try:
            seen = await self._looks.look(owner, paths, wait_s=wait_s)
        except Stopped:
            return
        except Busy:
            raise
        except Exception as error:
            logger.warning("the files could not be looked at", exc_info=True)
            self._problem, self._state = _why(error), ""
        else:
            self._state = seen.state
            self._since = together(self._since, seen.changes)
            self._by_tools |= dict.fromkeys(seen.by_tools)
        await self._tell_those_due()

    async def _tell_those_due(self) -> None:
        due, self._due = self._due, []
        for checkpoint_id in due:
            changes = self._taken() if self._state else None
            try:
                await self._note(checkpoint_id, self._state or self._problem, changes)
            except KimiTuiError:
                logger.warning("a checkpoint's files could not be noted", exc_info=True)

    def _taken(self) -> FileChanges:
        since, self._since = self._since, replace(FileChanges(), coverage=self._since.coverage)
        return since

    def _paths(self, named: Sequence[str] | None) -> list[str] | None:
        """The files that a tool names, as far as they are covered."""
        if named is None:
            return None
        paths = []
        for text in named:
            try:
                real = self._workspace.locate(text).real
            except FileProblem:
                continue
            if (path := path_in(self._workspace, real)) is not None:
                paths.append(path)
        return paths


class AgentFiles:
    """`soul.FileStates` of a sub-agent."""

    def __init__(
        self,
        state: Callable[[], str],
        around: Callable[[ToolCall, Change], AbstractAsyncContextManager[None]],
    ) -> None:
        self._state = state
        self._around = around

    def at_checkpoint(self, *, afresh: bool) -> FilesAtCheckpoint:
        """`FileStates.at_checkpoint`: as far as it is known. Nobody goes to a sub-agent's checkpoints."""
        return FilesAtCheckpoint(self._state())

    def find_out(self, checkpoint_id: int) -> None:
        """`FileStates.find_out`: nothing is ever due."""

    def around(self, call: ToolCall, change: Change, /) -> AbstractAsyncContextManager[None]:
        """`FileStates.around`."""
        return self._around(call, change)


def _why(error: Exception) -> str:
    return getattr(error, "what", "") or f"{type(error).__name__}: {error}"
