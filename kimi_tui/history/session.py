"""Sessions: the folders that hold a conversation and what belongs to it (`docs/formats.md`)."""

import asyncio
import contextlib
import difflib
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import SessionError
from kimi_tui.base.identity import new_id
from kimi_tui.base.paths import make_private_dir, work_dir_key
from kimi_tui.base.terminal import plain_line
from kimi_tui.base.usage import TokenUsage
from kimi_tui.history.claim import Claim
from kimi_tui.history.disk import LOCAL_DISK, Disk, replace_file
from kimi_tui.history.index import SessionIndex, SessionSummary
from kimi_tui.history.journal import Journal
from kimi_tui.history.serial import Serial, serially
from kimi_tui.history.state import SessionState, encoded_state, read_state
from kimi_tui.history.todo_log import FILE_NAME as TODO_LOG

_AHEAD_S = 300.0
"""By how much the clock of a file server may differ from ours."""
_NEAR = 3
"""How many sessions an error about an unknown one names."""


class Session:
    """A session. Its folder appears with the first thing that is written into it.

    `acquire` it before anything is written: it has one writer.
    """

    def __init__(self, folder: Path, work_dir: Path, *, disk: Disk = LOCAL_DISK) -> None:
        self.id = folder.name
        self.dir = folder
        self.work_dir = work_dir
        self.context_file = folder / "context.jsonl"
        self.wire_file = folder / "wire.jsonl"
        self._state_file = folder / "state.json"
        self._disk = disk
        self._claim = Claim(folder.parent / "locks" / self.id)
        self._index = SessionIndex(folder.parent, disk=disk)
        self._serial = Serial()
        state = read_state(self._state_file)
        self._state = state if state is not None else SessionState()
        self._state_is_damaged = state is None

    @property
    def state(self) -> SessionState:
        """What the session remembers."""
        return self._state

    @property
    def problem(self) -> str:
        """What the user should know of the session's state; mostly nothing."""
        if not self._state_is_damaged:
            return ""
        return f"{self._state_file} can't be read: title, todos and grants begin anew; it is kept as it is."

    def acquire(self) -> None:
        """Become the session's one writer. Raises SessionError when another process is."""
        self._claim.acquire()
        self._note(self._state.title)

    def reread(self) -> None:
        """Take up what the process that writes it has changed since."""
        if (state := read_state(self._state_file)) is not None:
            self._state = state

    def is_in_use(self) -> bool:
        """Whether a process writes it now."""
        return self._claim.is_held()

    def release(self) -> None:
        """Let others write. To release twice changes nothing."""
        self._claim.release()

    @serially
    async def update_state(self, /, **changes: Any) -> None:
        """Change fields of the state, on disk by an atomic replacement and in memory. Raises SessionError."""
        state = replace(self._state, **changes, work_dir=str(self.work_dir), updated=time.time())
        await asyncio.to_thread(self._save, state)
        self._state = state

    def _save(self, state: SessionState) -> None:
        with _telling_errors("The session's state can't be saved", self._state_file):
            make_private_dir(self.dir)
            if self._state_is_damaged:
                self._disk.rename(self._state_file, self._state_file.with_suffix(".json.damaged"))
                self._state_is_damaged = False
            replace_file(self._disk, self._state_file, [encoded_state(state)])
        if state.title != self._state.title:
            self._note(state.title)

    def _note(self, title: str) -> None:
        self._index.note(self.id, work_dir=self.work_dir, title=title, updated=time.time())


class SessionStore:
    """The sessions under a share dir. Work dirs are absolute paths."""

    def __init__(self, share_dir: Path, *, disk: Disk = LOCAL_DISK) -> None:
        self._folder = share_dir / "sessions"
        self._disk = disk

    def create(self, work_dir: Path) -> Session:
        """A new session; nothing is on disk yet."""
        return self._session(self._folder_of(work_dir) / new_id(), work_dir)

    def last(self, work_dir: Path) -> Session | None:
        """The session that was last used in a work dir, whether or not that ended well."""
        summaries = self.list(work_dir)
        return self._session(summaries[0].dir, work_dir) if summaries else None

    def find(self, wanted: str) -> Session:
        """The session of that id, or whose id begins so. Raises SessionError, which names near ones."""
        summaries = self.list()
        found = [known for known in summaries if known.id == wanted] or [
            known for known in summaries if wanted and known.id.startswith(wanted)
        ]
        if len(found) != 1:
            problem = (
                f"Several sessions begin with “{wanted}”" if found else f"There is no session “{wanted}”"
            )
            raise SessionError(f"{plain_line(problem)}.", hint=_nearest(wanted, found or summaries))
        summary = found[0]
        if summary.work_dir is None:
            raise SessionError(
                f"It isn't known any more which folder session {summary.id} worked in.",
                hint="Go to that folder and resume it there with --continue.",
            )
        return self._session(summary.dir, summary.work_dir)

    def list(self, work_dir: Path | None = None) -> tuple[SessionSummary, ...]:
        """The sessions of a work dir, or all, last used first. Journals are not read for it.

        What was used in the future, by a clock that was wrong then or is now, comes after all others.
        """
        if work_dir is not None:
            folders: Iterable[Path] = [self._folder_of(work_dir)]
        else:
            folders = self._folder.iterdir() if self._folder.is_dir() else ()
        found = [known for folder in folders for known in SessionIndex(folder, disk=self._disk).summaries()]
        found = [replace(known, work_dir=work_dir or known.work_dir) for known in found]
        now = time.time() + _AHEAD_S
        return tuple(sorted(found, key=lambda known: (known.updated <= now, known.updated), reverse=True))

    def fork(self, session: Session) -> Session:
        """A copy of a session with its branches, as a new one in the same work dir. Raises SessionError."""
        copy = self.create(session.work_dir)
        if not session.dir.exists():
            return copy
        beside = copy.dir.with_name(f".{copy.id}")
        title = f"{session.state.title} (fork)" if session.state.title else ""
        with _telling_errors("The session can't be copied", session.dir):
            try:
                make_private_dir(beside)
                _copy_session(session, beside)
                state = replace(
                    session.state,
                    title=title,
                    work_dir=str(session.work_dir),
                    usage=TokenUsage(),  # the copy has its own account
                    cost_usd=None,
                    updated=time.time(),
                )
                replace_file(self._disk, beside / "state.json", [encoded_state(state)])
                self._disk.rename(beside, copy.dir)
            except OSError:
                shutil.rmtree(beside, ignore_errors=True)
                raise
        return self._session(copy.dir, session.work_dir)

    def delete(self, session: Session) -> None:
        """Delete a session and its branches. Raises SessionError, also when it is in use."""
        session.acquire()
        try:
            with _telling_errors("The session can't be deleted", session.dir):
                doomed = session.dir.with_name(f".{session.id}.deleted")
                if session.dir.exists():
                    self._disk.rename(session.dir, doomed)
                    shutil.rmtree(doomed)
        finally:
            session.release()

    def _folder_of(self, work_dir: Path) -> Path:
        return self._folder / work_dir_key(work_dir)

    def _session(self, folder: Path, work_dir: Path) -> Session:
        return Session(folder, work_dir, disk=self._disk)


def _copy_session(session: Session, folder: Path) -> None:
    """Copy what a session has. Branches never change, so they get a second name where that is possible."""
    live = session.context_file
    for file in (live, session.wire_file, session.dir / TODO_LOG):
        if file.exists():
            _copy(file, folder / file.name)
    for branch in Journal(live).rotations().values():
        if branch.samefile(live):
            continue
        try:
            (folder / branch.name).hardlink_to(branch)
        except OSError:
            _copy(branch, folder / branch.name)
    subagents = session.dir / "subagents"
    if subagents.is_dir():
        shutil.copytree(subagents, folder / subagents.name)


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with contextlib.suppress(PermissionError):  # some file systems have one mode for all files
        target.chmod(0o600)


def _nearest(wanted: str, summaries: Iterable[SessionSummary]) -> str:
    """What to do instead: the sessions that look like the wanted one, else the newest."""
    known = list(summaries)
    if not known:
        return "There are no sessions yet; start without --session."
    ids = difflib.get_close_matches(wanted, [one.id for one in known], n=_NEAR, cutoff=0.5)
    near = [
        one
        for one in known
        if one.id in ids or (wanted and wanted.lower() in f"{one.id} {one.title}".lower())
    ]
    named = [plain_line(f"{one.id} {one.title}") for one in (near or known)[:_NEAR]]
    return f"{'Near' if near else 'The newest'} are: {'; '.join(named)}."


@contextlib.contextmanager
def _telling_errors(what: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SessionError(
            f"{what}: {error.strerror or error} ({path}).",
            hint="Free some space or make the folder writable, then try again.",
        ) from error
