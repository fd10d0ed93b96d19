"""The session's files: captured at checkpoints and around tool calls, off the event loop, one at a time."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from kimi_tui.base.completion import run_to_end
from kimi_tui.base.errors import FileProblem, KimiTuiError
from kimi_tui.base.message import ToolCall
from kimi_tui.history.snapshots.owner import YOU, Owner
from kimi_tui.soul.file_states import FilesAtCheckpoint
from kimi_tui.tools.step_calls import Change
from kimi_tui.tools.workspace import Workspace, showable
from kimi_tui.wire.events import Event, FileChanges, SnapshotProgress

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.capture import Captured
    from kimi_tui.history.snapshots.execution import Outcome
    from kimi_tui.history.snapshots.file_history import FileHistory

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
_NAMED = 3
"""How many uncovered files are named."""


class SessionFiles:
    """`soul.FileStates`, and the way to the history itself.

    A capture that fails costs coverage: it is logged, checkpoints say why, and the turn goes on.
    """

    def __init__(
        self,
        make_history: Callable[[], "FileHistory"],
        *,
        workspace: Workspace,
        earlier: Sequence[str],
        send: Callable[[Event], None],
        enabled: bool,
    ) -> None:
        self._make_history = make_history
        self._enabled = enabled
        self._workspace = workspace
        self._earlier = earlier
        self._send = send
        self._history: FileHistory | None = None
        self._completed: Outcome | None = None
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._since: list[Captured] = []
        """What was recorded since the last checkpoint."""
        self._state = ""
        self._problem = (
            "the files have not been captured yet"
            if enabled
            else "the config doesn't say `files = true` under [checkpoints]"
        )

    async def start(self) -> "Outcome | None":
        """Take the first state; what became of a revert that had been interrupted."""
        if self._enabled:
            await self._capture(YOU)
        return self._completed

    async def close(self) -> None:
        """Keep what is known for the next session."""
        async with self._lock:
            if self._history is not None:
                await run_to_end(self._history.close)
                self._history = None

    async def at_checkpoint(self, *, afresh: bool) -> FilesAtCheckpoint:
        """`FileStates.at_checkpoint`."""
        if self._enabled and (afresh or not self._state):
            await self._capture(YOU)
        if not self._state:
            return FilesAtCheckpoint(self._problem, None)
        since, self._since = self._since, []
        return FilesAtCheckpoint(self._state, await self.use(_changes, since))

    def around(self, call: ToolCall, change: Change, /) -> AbstractAsyncContextManager[None]:
        """`FileStates.around`."""
        return self._around(call, change)

    async def use(
        self, act: "Callable[Concatenate[FileHistory, P], T]", *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Let `act` have the history, in a thread and alone.

        Raises what it raises; a KimiTuiError when the disk refuses.
        """
        async with self._lock:
            try:
                history = await self._opened()
                return await run_to_end(act, history, *args, **kwargs)
            except OSError as error:
                raise KimiTuiError(
                    f"The files' states can't be kept or read: {error.strerror or error}.",
                    hint="Free some space, or make the share dir writable.",
                ) from error

    @asynccontextmanager
    async def _around(self, call: ToolCall, change: Change) -> AsyncIterator[None]:
        paths = self._paths(change.files) if self._enabled else []
        if paths is not None and not paths:
            yield
            return
        await self._capture(YOU, paths)
        try:
            yield
        finally:
            owner = Owner(
                who="call",
                session=self._session_of_history(),
                call=call.id,
                tool=call.function.name,
                command=change.command,
            )
            await self._capture(owner, paths)

    def _session_of_history(self) -> str:
        return self._history.session if self._history is not None else ""

    async def _opened(self) -> "FileHistory":
        if self._history is None:
            self._loop = asyncio.get_running_loop()
            history = await run_to_end(self._make_history)
            self._completed = await run_to_end(history.open, self._earlier)
            self._history = history
        return self._history

    async def _capture(self, owner: Owner, paths: Collection[str] | None = None) -> None:
        reported = _Reported(self._report)
        try:
            captured = await self.use(_captured, owner, paths, reported)
        except Exception as error:
            logger.warning("a capture failed", exc_info=True)
            self._problem, self._state = getattr(error, "what", f"{type(error).__name__}: {error}"), ""
            return
        finally:
            if reported.last:
                self._send(SnapshotProgress(reported.last, reported.last))
        self._state = captured.manifest
        if captured.changes:
            self._since.append(captured)

    def _report(self, done: int) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._send, SnapshotProgress(done))

    def _paths(self, named: Sequence[str] | None) -> list[str] | None:
        """The files that a tool names, from the work dir on; those outside of it are not covered."""
        if named is None:
            return None
        root = Path(os.path.realpath(self._workspace.work_dir))
        paths = []
        for text in named:
            try:
                real = self._workspace.locate(text).real
            except FileProblem:
                continue
            if real.is_relative_to(root) and real != root:
                paths.append(real.relative_to(root).as_posix())
        return paths


class _Reported:
    """Passes on how far a scan is."""

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report = report
        self.last = 0

    def __call__(self, done: int) -> None:
        self.last = done
        self._report(done)


def _captured(
    history: "FileHistory", owner: Owner, paths: Collection[str] | None, progress: Callable[[int], None]
) -> "Captured":
    return history.capture(owner, paths=paths, progress=progress)


def _changes(history: "FileHistory", since: "Sequence[Captured]") -> FileChanges:
    added = removed = 0
    for captured in since:
        more, fewer = history.counted(captured)
        added, removed = added + more, removed + fewer
    paths = {path for captured in since for path in captured.changes}
    return FileChanges(len(paths), added, removed, _coverage(history))


def _coverage(history: "FileHistory") -> str:
    if history.named_only:
        return f"Only files that file tools write are covered, since {history.named_only}."
    left_out = [f"{showable(path)} ({why})" for path, why in sorted(history.not_covered.items())]
    if not left_out:
        return ""
    more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
    return f"Not covered: {', '.join(left_out[:_NAMED])}{more}."
