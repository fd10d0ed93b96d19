"""Sessions: directories that contain a conversation and its related files (`docs/formats.md`)."""

import asyncio
import contextlib
import difflib
import re
import shutil
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import SessionError
from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import make_private_dir, sessions_dir, work_dir_key
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.history.check_log import CHECK_LOG
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, FileSystem, replace_file
from kimi_tui.history.journal import Journal
from kimi_tui.history.kimi_cli.data_dir import KimiCliDataDir, KimiCliSession
from kimi_tui.history.kimi_cli.own_sessions import move_own_sessions
from kimi_tui.history.kimi_cli.session_state import convert_state
from kimi_tui.history.serial_queue import SerialQueue, run_serially
from kimi_tui.history.session_index import SessionIndex, SessionSummary, first_prompt
from kimi_tui.history.session_lock import SessionLock
from kimi_tui.history.session_state import SessionState, encode_state, forget_attempts, read_state
from kimi_tui.history.todo_log import FILE_NAME as TODO_LOG

_MAX_CLOCK_SKEW_S = 300.0
"""Maximum difference between the clock of a file server and the local one."""
_SESSION_ID = re.compile(r"[A-Za-z0-9_][\w.-]{0,127}", re.ASCII)
_MAX_SUGGESTIONS = 3
"""Number of sessions suggested in an error about an unknown one."""


class Session:
    """A session. Its directory is created with the first file written to it.

    Call `acquire` before anything is written: a session has a single writer.
    """

    def __init__(
        self,
        folder: Path,
        work_dir: Path,
        *,
        fs: FileSystem = LOCAL_FILE_SYSTEM,
        kimi_cli_session: KimiCliSession | None = None,
    ) -> None:
        """`kimi_cli_session`: the session belongs to Kimi CLI and can only be read."""
        self.id = folder.name
        self.kimi_cli_session = kimi_cli_session
        self.dir = folder
        self.work_dir = work_dir
        self.context_file = folder / "context.jsonl"
        self.wire_file = folder / "wire.jsonl"
        self._state_file = folder / "state.json"
        self._fs = fs
        self._lock = SessionLock(folder.parent / "locks" / self.id)
        self._index = SessionIndex(folder.parent, fs=fs)
        self._serial_queue = SerialQueue()
        state = read_state(self._state_file) if kimi_cli_session is None else convert_state(kimi_cli_session)
        self._state = state if state is not None else SessionState()
        self._state_is_damaged = state is None

    @property
    def state(self) -> SessionState:
        """The session's state apart from its conversation."""
        return self._state

    @property
    def problem(self) -> str:
        """Problem with the session's state file, for the user; usually empty."""
        if not self._state_is_damaged:
            return ""
        return msg(
            "Can't read {path}. Title, todo list and permissions were reset; the file is kept.",
            path=self._state_file,
        )

    def acquire(self) -> None:
        """Become the only writer. Raises SessionError if the session is in use or belongs to Kimi CLI."""
        self._check_is_own()
        self._lock.acquire()
        self._update_index(self._state.title)

    def reload_state(self) -> None:
        """Read the state again, in case the process that writes it has changed it."""
        if (state := read_state(self._state_file)) is not None:
            self._state = state

    def is_in_use(self) -> bool:
        """Return whether a process is writing to the session."""
        return self._lock.is_held()

    def release(self) -> None:
        """Let other processes write. No effect if already released."""
        self._lock.release()

    @run_serially
    async def update_state(self, /, **changes: Any) -> None:
        """Change fields of the state, on disk (atomically) and in memory. Raises SessionError."""
        state = replace(self._state, **changes, work_dir=str(self.work_dir), updated=time.time())
        await asyncio.to_thread(self._save, state)
        self._state = state

    async def forget_attempts(self, numbers: Collection[int]) -> None:
        """Record that attempts were removed. Raises SessionError."""
        state = forget_attempts(self._state, numbers)
        if state != self._state:
            await self.update_state(undos=state.undos, redos=state.redos, adopted=state.adopted)

    def _save(self, state: SessionState) -> None:
        self._check_is_own()
        with _mapping_errors("Can't save the session state", self._state_file):
            make_private_dir(self.dir)
            if self._state_is_damaged:
                self._fs.rename(self._state_file, self._state_file.with_suffix(".json.damaged"))
                self._state_is_damaged = False
            replace_file(self._fs, self._state_file, [encode_state(state)])
        if state.title != self._state.title:
            self._update_index(state.title)

    def _check_is_own(self) -> None:
        if self.kimi_cli_session is not None:
            raise SessionError(
                msg("Session {id} belongs to Kimi CLI and can't be changed.", id=self.id),
                hint="Resume it: kimi-tui then continues with a copy.",
            )

    def _update_index(self, title: str) -> None:
        self._index.record(self.id, work_dir=self.work_dir, title=title, updated=time.time())


class SessionStore:
    """The sessions in a data directory. Working directories are absolute paths."""

    def __init__(self, data_dir: Path, *, fs: FileSystem = LOCAL_FILE_SYSTEM) -> None:
        self._folder = sessions_dir(data_dir)
        self._kimi_cli_dir = KimiCliDataDir(data_dir)
        self._fs = fs

    def create(self, work_dir: Path, session_id: str = "") -> Session:
        """Return a new session, with a new id by default. Nothing is written to disk yet.

        Raises SessionError for an id that can't be a file name.
        """
        if session_id and not _SESSION_ID.fullmatch(session_id):
            raise SessionError(
                msg("“{id}” can't be a session ID.", id=sanitize_line(session_id)),
                hint="Use letters, digits, dots, hyphens and underscores.",
            )
        return Session(self._folder_of(work_dir) / (session_id or new_id()), work_dir, fs=self._fs)

    def latest(self, work_dir: Path) -> Session | None:
        """Return the last used session of a working directory, including sessions that crashed."""
        summaries = self.list(work_dir)
        return self._session(summaries[0], work_dir) if summaries else None

    def find(self, id_prefix: str) -> Session:
        """Return the session with this id or id prefix. Raises SessionError with suggestions."""
        summaries = self.list()
        matches = [summary for summary in summaries if summary.id == id_prefix] or [
            summary for summary in summaries if id_prefix and summary.id.startswith(id_prefix)
        ]
        if len(matches) != 1:
            shown = sanitize_line(id_prefix)
            raise SessionError(
                msg("Several session IDs start with “{id}”.", id=shown)
                if matches
                else msg("Session “{id}” doesn't exist.", id=shown),
                hint=_suggest_sessions(id_prefix, matches or summaries),
            )
        summary = matches[0]
        if summary.work_dir is None:
            raise SessionError(
                msg("The working directory of session {id} is unknown.", id=summary.id),
                hint="Change to that directory and resume the session with --continue.",
            )
        return self._session(summary, summary.work_dir)

    def list(self, work_dir: Path | None = None) -> tuple[SessionSummary, ...]:
        """Return the sessions of a working directory, or all, last used first. Doesn't read the journals.

        Includes Kimi CLI's sessions in this data directory that haven't been copied. Sessions with a time in
        the future, because a clock is or was wrong, come last.
        """
        move_own_sessions(self._kimi_cli_dir, self._folder)
        if work_dir is not None:
            folders: Iterable[Path] = [self._folder_of(work_dir)]
        else:
            folders = self._folder.iterdir() if self._folder.is_dir() else ()
        all_summaries = (
            summary for folder in folders for summary in SessionIndex(folder, fs=self._fs).summaries()
        )
        summaries = [replace(summary, work_dir=work_dir or summary.work_dir) for summary in all_summaries]
        known = {summary.id for summary in summaries}
        summaries += [
            _summarize(session, work_dir)
            for session in self._kimi_cli_dir.sessions(work_dir_key(work_dir) if work_dir else "")
            if session.id not in known
        ]
        latest = time.time() + _MAX_CLOCK_SKEW_S
        return tuple(
            sorted(summaries, key=lambda summary: (summary.updated <= latest, summary.updated), reverse=True)
        )

    def fork(self, session: Session) -> Session:
        """Copy a session with its branches, in the same working directory. Raises SessionError."""
        copy = self.create(session.work_dir)
        if not session.dir.exists():
            return copy
        temporary = copy.dir.with_name(f".{copy.id}")
        title = f"{session.state.title} (fork)" if session.state.title else ""
        with _mapping_errors("Can't fork the session", session.dir):
            try:
                make_private_dir(temporary)
                _copy_session(session, temporary)
                state = replace(
                    forget_attempts(session.state),  # attempts aren't copied
                    title=title,
                    work_dir=str(session.work_dir),
                    usage=TokenUsage(),  # the fork counts its own usage
                    cost_usd=None,
                    cost_day="",
                    cost_day_usd=0.0,
                    model_usage=(),
                    updated=time.time(),
                )
                replace_file(self._fs, temporary / "state.json", [encode_state(state)])
                self._fs.rename(temporary, copy.dir)
            except OSError:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
        return Session(copy.dir, session.work_dir, fs=self._fs)

    def delete(self, session: Session) -> None:
        """Delete a session and its branches. Raises SessionError, also if it is in use."""
        session.acquire()
        try:
            with _mapping_errors("Can't delete the session", session.dir):
                trash = session.dir.with_name(f".{session.id}.deleted")
                if session.dir.exists():
                    self._fs.rename(session.dir, trash)
                    shutil.rmtree(trash)
        finally:
            session.release()

    def _folder_of(self, work_dir: Path) -> Path:
        return self._folder / work_dir_key(work_dir)

    def _session(self, summary: SessionSummary, work_dir: Path) -> Session:
        if (theirs := summary.kimi_cli_session) is not None and theirs.work_dir is None:
            theirs = replace(theirs, work_dir=work_dir)
        return Session(summary.dir, work_dir, fs=self._fs, kimi_cli_session=theirs)


def _summarize(session: KimiCliSession, work_dir: Path | None) -> SessionSummary:
    return SessionSummary(
        id=session.id,
        dir=session.context_file.parent,
        work_dir=work_dir or session.work_dir,
        title=session.title or first_prompt(session.context_file),
        updated=session.updated,
        kimi_cli_session=session,
    )


def _copy_session(session: Session, folder: Path) -> None:
    """Copy the files of a session. Branches never change, so they are hard-linked where possible."""
    current = session.context_file
    for file in (current, session.wire_file, session.dir / TODO_LOG, session.dir / CHECK_LOG):
        if file.exists():
            _copy(file, folder / file.name)
    for branch in Journal(current).rotations().values():
        if branch.samefile(current):
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
    with contextlib.suppress(PermissionError):  # some file systems have one fixed mode for all files
        target.chmod(0o600)


def _suggest_sessions(id_prefix: str, summaries: Iterable[SessionSummary]) -> str:
    """Return a hint that lists sessions similar to `id_prefix`, or the newest ones if none is similar."""
    sessions = list(summaries)
    if not sessions:
        return "No sessions yet. Start without --session."
    ids = difflib.get_close_matches(id_prefix, [each.id for each in sessions], n=_MAX_SUGGESTIONS, cutoff=0.5)
    similar = [
        each
        for each in sessions
        if each.id in ids or (id_prefix and id_prefix.lower() in f"{each.id} {each.title}".lower())
    ]
    labels = [sanitize_line(f"{each.id} {each.title}") for each in (similar or sessions)[:_MAX_SUGGESTIONS]]
    return f"{'Similar sessions' if similar else 'Newest sessions'}: {'; '.join(labels)}."


@contextlib.contextmanager
def _mapping_errors(what: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SessionError(
            f"{what}: {error.strerror or error} ({path}).",
            hint="Free some disk space or make the directory writable, then try again.",
        ) from error
