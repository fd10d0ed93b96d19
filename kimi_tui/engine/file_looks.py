"""Looks at the files: the one way to their history, in a thread, one at a time, told of and stoppable."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from kimi_tui.base.completion import run_to_end
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.value import value
from kimi_tui.engine.coverage import coverage, shown_path
from kimi_tui.history.snapshots.owner import YOU, Owner
from kimi_tui.wire.events import Event, SnapshotProgress
from kimi_tui.wire.timeline import FileChanges

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.execution import Outcome
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.patience import Patience

Report = Callable[[int, int | None], None]
"""Hears how much is done, of how much as far as that is known."""
Hold = Callable[["Patience"], None]
"""Gets what can stop the work."""
P = ParamSpec("P")
T = TypeVar("T")
WAIT_S = 3.0
"""How long what a user asked for waits for a look: commands are followed one after another."""
_PATHS = 20
"""How many changed files are named."""


class Busy(KimiTuiError):
    """The files are being looked at, and whoever asked would wait too long."""


@value
class Seen:
    """What a look found."""

    state: str
    changes: FileChanges
    """Since the look before."""
    by_tools: tuple[str, ...] = ()
    """Every file that a tool changed, without folders."""


class FileLooks:
    """The file history of one session."""

    def __init__(
        self,
        make_history: Callable[[], "FileHistory"],
        *,
        earlier: Sequence[str],
        send: Callable[[Event], None],
        report_every_s: float = 0.1,
    ) -> None:
        self._report_every_s = report_every_s
        self._make_history = make_history
        self._earlier = earlier
        self._send = send
        self._history: FileHistory | None = None
        self._lock = asyncio.Lock()
        self._patience: Patience | None = None
        """Of the look under way."""
        self._is_closing = False
        self.whoever: Callable[[], Owner] = lambda: YOU
        """Tells whose is what a look finds that was made for something else, such as a comparison."""
        self._delayed: list[str] = []
        """The tools that wait for a look."""
        self._progress: tuple[int, int | None] | None = None
        """Of the look under way, once it takes long enough to be told of."""
        self.completed: Outcome | None = None
        """What became of a revert that had been interrupted."""

    @property
    def session(self) -> str:
        """The session whose files these are; empty before the first look."""
        return self._history.session if self._history is not None else ""

    async def look(
        self, owner: Callable[[], Owner], paths: Collection[str] | None = None, *, wait_s: float | None = None
    ) -> Seen:
        """Record what changed since the look before; `owner`, asked when it is this look's turn, did it.

        Cancelled, it stops soon and records nothing. Raises KimiTuiError when the disk refuses, Stopped; Busy
        when it isn't its turn within `wait_s` seconds.
        """
        async with self._turn(wait_s):
            history = await self._opened()
            return await self._stoppably(partial(_seen, history, owner(), paths))

    async def look_through(self, act: "Callable[[FileHistory, Patience], T]") -> T:
        """Let `act` have the history as `use` does; it is told of, and cancelled it stops soon."""
        from kimi_tui.history.snapshots.patience import Patience, Stopped

        def patiently(history: "FileHistory", report: Report, hold: Hold) -> T:
            patience = Patience(report=report)
            hold(patience)
            return act(history, patience)

        async with self._turn(WAIT_S):
            history = await self._opened()
            try:
                return await self._stoppably(partial(patiently, history))
            except Stopped:
                raise Busy("The session is being closed.", hint="Open it again.") from None

    async def _stoppably(self, work: "Callable[[Report, Hold], T]") -> T:
        loop = asyncio.get_running_loop()

        def report(done: int, total: int | None) -> None:
            loop.call_soon_threadsafe(self._report, done, total)

        def hold(patience: "Patience") -> None:
            self._patience = patience
            if self._is_closing:
                patience.stop()

        running = asyncio.ensure_future(asyncio.to_thread(work, _Seldom(report, self._report_every_s), hold))
        try:
            with _telling_errors():
                return await asyncio.shield(running)
        except asyncio.CancelledError:
            if self._patience is not None:
                self._patience.stop()
            await asyncio.wait([running])
            if not running.cancelled():
                running.exception()  # nobody asks for it any more
            raise
        finally:
            self._patience = None
            self._reported_all()

    async def use(
        self, act: "Callable[Concatenate[FileHistory, P], T]", *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Let `act` have the history, in a thread and alone.

        Raises what it raises; a KimiTuiError when the disk refuses; Busy when a look takes long.
        """
        async with self._turn(WAIT_S):
            with _telling_errors():
                return await run_to_end(act, await self._opened(), *args, **kwargs)

    @contextmanager
    def delaying(self, tool: str) -> Iterator[None]:
        """Within, a tool waits for a look."""
        self._delayed.append(tool)
        if self._progress is not None:
            self._report(*self._progress)
        try:
            yield
        finally:
            self._delayed.remove(tool)

    async def close(self) -> None:
        """Give up the look under way, and keep what is known for the next session."""
        self._is_closing = True
        if self._patience is not None:
            self._patience.stop()
        async with self._lock:
            if self._history is not None:
                await run_to_end(self._history.close)
                self._history = None

    @asynccontextmanager
    async def _turn(self, wait_s: float | None) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(wait_s):
                await self._lock.acquire()
        except TimeoutError:
            raise Busy(
                "The files are still being looked at.", hint="Try again when that has ended."
            ) from None
        try:
            yield
        finally:
            self._lock.release()

    async def _opened(self) -> "FileHistory":
        if self._history is None:
            with _telling_errors():
                history = await run_to_end(self._make_history)
                history.whoever = self.whoever
                self.completed = await run_to_end(history.open, self._earlier)
            self._history = history
        return self._history

    def _report(self, done: int, total: int | None) -> None:
        if self._patience is not None or self._progress is not None:
            self._progress = (done, total)
            self._send(SnapshotProgress(done, total, self._delayed[0] if self._delayed else ""))

    def _reported_all(self) -> None:
        if self._progress is not None:
            done = max(self._progress[0], self._progress[1] or 0)
            self._progress = None
            self._send(SnapshotProgress(done, done))


class _Seldom:
    """Passes on how far a look is, now and then."""

    def __init__(self, report: Callable[[int, int | None], None], every_s: float) -> None:
        self._report = report
        self._every_s = every_s
        self._next = time.monotonic() + every_s

    def __call__(self, done: int, total: int | None) -> None:
        if (now := time.monotonic()) >= self._next:
            self._next = now + self._every_s
            self._report(done, total)


def _seen(
    history: "FileHistory",
    owner: Owner,
    paths: Collection[str] | None,
    report: "Report",
    hold: "Hold",
) -> Seen:
    captured = history.capture(owner, paths=paths, report=report, hold=hold)
    added, removed = history.counted(captured)
    changed = sorted(captured.changes)
    by_tools = owner.who in {"call", "background"}
    return Seen(
        captured.manifest,
        FileChanges(
            len(changed),
            added,
            removed,
            coverage(history),
            yours=len(changed) if owner.who in {"you", "background"} else 0,
            paths=tuple(map(shown_path, changed[:_PATHS])),
        ),
        tuple(shown_path(path) for path in changed if not captured.is_folder(path)) if by_tools else (),
    )


def together(first: FileChanges, then: FileChanges) -> FileChanges:
    """Two looks' changes as one. A file that changed in both counts once as far as it is named."""
    paths = tuple(dict.fromkeys((*first.paths, *then.paths)))
    twice = len(first.paths) + len(then.paths) - len(paths)
    return FileChanges(
        first.changed + then.changed - twice,
        first.added_lines + then.added_lines,
        first.removed_lines + then.removed_lines,
        then.coverage,
        yours=first.yours + then.yours,
        paths=paths[:_PATHS],
    )


@contextmanager
def _telling_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise KimiTuiError(
            f"The files' states can't be kept or read: {error.strerror or error}.",
            hint="Free some space, or make the share dir writable.",
        ) from error
