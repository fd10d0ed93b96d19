"""Worker for file snapshots: runs all access to the file history in a thread, one query at a time."""

import asyncio
import errno
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec, Protocol, TypeVar, assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.engine.files.coverage import describe_coverage, display_path
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import SnapshotProgress
from kimi_tui.wire.timeline import FileChanges

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.deadline import ScanDeadline, ScanProgress
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.plan_executor import ExecutionResult

logger = logging.getLogger(__name__)

ScanScope = Literal["all", "few files", "paths"]
"""Scope of a capture.

- `all`: all files, or only the given paths once a first state exists
- `few files`: all files, or none if a scan of the project takes long
- `paths`: only the given paths
"""
SetDeadline = Callable[["ScanDeadline"], None]
"""Called with the deadline that can cancel the work."""
P = ParamSpec("P")
T = TypeVar("T")
MAX_WAIT_S = 3.0
"""Longest time in seconds that a user's command waits for a scan, because commands run one after another."""
_NO_SPACE_HINT = "Free some disk space."
_NOT_WRITABLE_HINT = "Make the data directory writable."
_HINTS = {
    errno.ENOSPC: _NO_SPACE_HINT,
    errno.EDQUOT: _NO_SPACE_HINT,
    errno.EACCES: _NOT_WRITABLE_HINT,
    errno.EPERM: _NOT_WRITABLE_HINT,
    errno.EROFS: _NOT_WRITABLE_HINT,
}
_MAX_PATHS = 20
"""Maximum number of changed files that are named."""


class SnapshotBusyError(KimiTuiError):
    """A file scan is running, and waiting for it would take too long."""


@frozen
class SnapshotResult:
    """Result of a file scan."""

    state: str
    changes: FileChanges
    """Changes since the previous scan."""
    tool_paths: tuple[str, ...] = ()
    """All files that a tool changed, without directories."""


class HistoryFactory(Protocol):
    """Builds the file history of a session."""

    def build(self) -> "FileHistory":
        """Return the file history, not yet open. Blocks."""


class AuthorSource(Protocol):
    """Source of the authors of changes."""

    def current_author(self) -> ChangeAuthor:
        """Return the most likely author of changes that are found now."""
        ...


class SnapshotWorker:
    """Gives exclusive access to the file history of one session."""

    def __init__(
        self,
        factory: HistoryFactory,
        *,
        known_states: Sequence[str],
        sender: EventSender,
        session: str = "",
        report_interval_s: float = 0.1,
    ) -> None:
        self._report_interval_s = report_interval_s
        self._factory = factory
        self._session = session
        self._known_states = known_states
        self._sender = sender
        self._history: FileHistory | None = None
        self._lock = asyncio.Lock()
        self._deadline: ScanDeadline | None = None
        """Deadline of the running scan."""
        self._is_closing = False
        self._may_be_canceled = False
        """Whether the running scan may be canceled by a capture of some paths."""
        self.loads_lazily = False
        """Whether the last state of a large project is loaded on demand. Set this before the first use."""
        self.authors: AuthorSource | None = None
        """Source of the author of changes that a scan for another purpose, such as a comparison, finds.

        None: the user is the author.
        """
        self._waiting_tools: list[str] = []
        """Names of the tools that wait for a scan."""
        self._progress: tuple[int, int | None] | None = None
        """Progress of the running scan, once it has taken long enough to be reported."""
        self.recovered_outcome: ExecutionResult | None = None
        """Outcome of an interrupted revert that was completed on opening."""

    @property
    def session(self) -> str:
        """ID of the session that the files belong to.

        Without an ID in the constructor, empty until the first use.
        """
        return self._history.session if self._history is not None else self._session

    async def capture(
        self,
        author: ChangeAuthor | None = None,
        paths: Collection[str] | None = None,
        *,
        scan: ScanScope = "all",
        wait_s: float | None = None,
        renames: Mapping[str, str] = MappingProxyType({}),
    ) -> SnapshotResult:
        """Record the changes since the previous scan as made by `author`.

        None: the author is determined when the scan starts. A canceled scan stops soon and records nothing. A
        capture of scope "paths" cancels a running scan of scope "few files". `renames` maps new paths to old
        ones for scope "paths": renames that the author probably made.
        Raises KimiTuiError instead of OSError. Raises ScanCanceled. Raises SnapshotBusyError if the worker
        isn't free within `wait_s` seconds.
        """
        if scan == "paths" and self._may_be_canceled and self._deadline is not None:
            self._deadline.cancel()
        async with self._exclusive(wait_s):
            history = await self._open_history()
            self._may_be_canceled = scan == "few files"
            try:
                return await self._run_cancellable(
                    partial(_capture_changes, history, author or self._current_author(), paths, scan, renames)
                )
            finally:
                self._may_be_canceled = False

    async def run_query(self, query: "Callable[[FileHistory, ScanDeadline], T]") -> T:
        """Run `query` on the history like `use`, with progress events. Cancellation stops `query` soon."""
        from kimi_tui.history.snapshots.deadline import ScanCanceled, ScanDeadline

        def run_with_deadline(
            history: "FileHistory", progress: "ScanProgress", set_deadline: SetDeadline
        ) -> T:
            deadline = ScanDeadline(progress=progress)
            set_deadline(deadline)
            return query(history, deadline)

        async with self._exclusive(MAX_WAIT_S):
            history = await self._open_history()
            try:
                return await self._run_cancellable(partial(run_with_deadline, history))
            except ScanCanceled:
                raise SnapshotBusyError("The session is closing.", hint="Resume it and try again.") from None

    async def _run_cancellable(self, work: "Callable[[ScanProgress, SetDeadline], T]") -> T:
        def set_deadline(deadline: "ScanDeadline") -> None:
            self._deadline = deadline
            if self._is_closing:
                deadline.cancel()

        progress = _ThrottledProgress(self, asyncio.get_running_loop(), self._report_interval_s)
        running = asyncio.ensure_future(asyncio.to_thread(work, progress, set_deadline))
        try:
            with _translate_os_errors():
                return await asyncio.shield(running)
        except asyncio.CancelledError:
            if self._deadline is not None:
                self._deadline.cancel()
            await asyncio.wait([running])
            if not running.cancelled():
                running.exception()  # marks the exception as retrieved
            raise
        finally:
            self._deadline = None
            self._finish_progress()

    async def use(
        self, query: "Callable[Concatenate[FileHistory, P], T]", *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `query` on the history in a thread, exclusively.

        Raises the errors of `query`, with KimiTuiError instead of OSError. Raises SnapshotBusyError if the
        worker isn't free within MAX_WAIT_S seconds.
        """
        async with self._exclusive(MAX_WAIT_S):
            with _translate_os_errors():
                return await run_in_thread_shielded(query, await self._open_history(), *args, **kwargs)

    @contextmanager
    def delaying_tool(self, tool: str) -> Iterator[None]:
        """Report in progress events that `tool` waits for a scan, while the context is active."""
        self._waiting_tools.append(tool)
        if self._progress is not None:
            self.report(*self._progress)
        try:
            yield
        finally:
            self._waiting_tools.remove(tool)

    async def close(self) -> None:
        """Cancel the running scan, and save the scan state for the next session."""
        self._is_closing = True
        if self._deadline is not None:
            self._deadline.cancel()
        async with self._lock:
            if self._history is not None:
                await run_in_thread_shielded(self._history.close)
                self._history = None

    @asynccontextmanager
    async def _exclusive(self, wait_s: float | None) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(wait_s):
                await self._lock.acquire()
        except TimeoutError:
            raise SnapshotBusyError(
                "A file scan is still running.", hint="Try again when it has finished."
            ) from None
        try:
            yield
        finally:
            self._lock.release()

    async def _open_history(self) -> "FileHistory":
        if self._history is None:
            with _translate_os_errors():
                history = await run_in_thread_shielded(self._factory.build)
                history.default_author = self._current_author
                self.recovered_outcome = await run_in_thread_shielded(
                    partial(history.open, self._known_states, lazily=self.loads_lazily)
                )
            self._history = history
        return self._history

    def _current_author(self) -> ChangeAuthor:
        return self.authors.current_author() if self.authors is not None else USER

    def report(self, done: int, total: int | None) -> None:
        """Send the progress of the running scan as an event."""
        if self._deadline is not None or self._progress is not None:
            self._progress = (done, total)
            self._sender.send(
                SnapshotProgress(done, total, self._waiting_tools[0] if self._waiting_tools else "")
            )

    def _finish_progress(self) -> None:
        if self._progress is not None:
            done = max(self._progress[0], self._progress[1] or 0)
            self._progress = None
            self._sender.send(SnapshotProgress(done, done))


class _ThrottledProgress:
    """Forwards progress from a scan's thread to the worker, at most once per `interval_s` seconds."""

    def __init__(self, worker: SnapshotWorker, loop: asyncio.AbstractEventLoop, interval_s: float) -> None:
        self._worker = worker
        self._loop = loop
        self._interval_s = interval_s
        self._next_report = time.monotonic() + interval_s

    def report(self, done: int, total: int | None) -> None:
        """Implement `ScanProgress.report`."""
        if (now := time.monotonic()) >= self._next_report:
            self._next_report = now + self._interval_s
            self._loop.call_soon_threadsafe(self._worker.report, done, total)


def _capture_changes(
    history: "FileHistory",
    author: ChangeAuthor,
    paths: Collection[str] | None,
    scan: ScanScope,
    renames: Mapping[str, str],
    progress: "ScanProgress",
    set_deadline: SetDeadline,
) -> SnapshotResult:
    match scan:
        case "all":
            captured = history.capture(author, paths=paths, progress=progress, register_deadline=set_deadline)
        case "few files":
            captured = history.capture_if_small(author, progress=progress, register_deadline=set_deadline)
        case "paths":
            captured = history.capture_paths(
                author, paths or (), renames=renames, register_deadline=set_deadline
            )
        case _:
            assert_never(scan)
    added, removed = history.count_lines(captured)
    changed = sorted(captured.changes)
    by_tools = author.who in {"call", "background"}
    return SnapshotResult(
        captured.manifest,
        FileChanges(
            len(changed),
            added,
            removed,
            describe_coverage(history),
            yours=len(changed) if author.who in {"you", "background"} else 0,
            paths=tuple(map(display_path, changed[:_MAX_PATHS])),
        ),
        tuple(display_path(path) for path in changed if not captured.is_folder(path)) if by_tools else (),
    )


def combine_changes(first: FileChanges, second: FileChanges) -> FileChanges:
    """Return the changes of two scans as one. A file in both is listed once."""
    paths = tuple(dict.fromkeys((*first.paths, *second.paths)))
    duplicates = len(first.paths) + len(second.paths) - len(paths)
    return FileChanges(
        first.changed + second.changed - duplicates,
        first.added_lines + second.added_lines,
        first.removed_lines + second.removed_lines,
        second.coverage,
        yours=first.yours + second.yours,
        paths=paths[:_MAX_PATHS],
    )


@contextmanager
def _translate_os_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        logger.warning("file snapshots failed", exc_info=True)
        raise KimiTuiError(
            msg("Can't access the file snapshots: {reason}.", reason=error.strerror or error),
            hint=_HINTS.get(error.errno or 0, "See the log for details. The conversation isn't affected."),
        ) from error
