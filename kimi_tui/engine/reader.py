"""A session that is only read, behind the Wire: its past, its timeline, and what another process adds."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.engine.notices import notice
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.read_timeline import ONLY_READ, WAY_OUT, ReadTimeline
from kimi_tui.engine.recorded import read_recording, with_commands
from kimi_tui.engine.replay import replayed
from kimi_tui.engine.session_shelf import SessionShelf
from kimi_tui.engine.slash_book import SlashBook, SlashCommand
from kimi_tui.engine.title import Title
from kimi_tui.engine.travel_slash import travel_commands
from kimi_tui.history.line import Line
from kimi_tui.history.reading import Reading
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    Command,
    ListSessions,
    PreviewSession,
    RunSlash,
    Shutdown,
    TravelCommand,
)
from kimi_tui.wire.events import (
    CheckpointCreated,
    Event,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    TurnEnd,
)

_LOOK_S = 0.7
"""Seconds between two looks at the files; more where reading them takes long."""
_SHARE = 10
"""Reading may take one part in so many of the time."""


class Reader:
    """Tells what a session's files hold, and writes nothing."""

    def __init__(self, wire: Wire, session: Session, share_dir: Path, *, look_s: float = _LOOK_S) -> None:
        self._wire = wire
        self._session = session
        self._look_s = look_s
        self._shelf = SessionShelf(
            store=SessionStore(share_dir),
            session=session,
            title=Title(session),
            send=wire.send,
            info=self._tell_info,
        )
        self._reading = Reading(session.context_file)
        self._timeline = ReadTimeline(
            reading=self._reading, session=session, share_dir=share_dir, send=wire.send
        )
        self._book = SlashBook(travel_commands(self._timeline, only_looking=True))
        self._told: list[Event] = []
        self._told_info: SessionInfo | None = None
        self._is_in_use = session.is_in_use()

    async def serve(self) -> None:
        """Tell the past, follow what is added, until Shutdown; closes the Wire at the end."""
        try:
            self._tell_info()
            async with asyncio.TaskGroup() as group:
                following = group.create_task(self._follow_files())
                async for command in self._wire.commands():
                    if isinstance(command, Shutdown):
                        break
                    await self._follow(command)
                following.cancel()
        finally:
            self._wire.close()

    def _tell_info(self) -> None:
        info = SessionInfo(
            session_id=self._session.id,
            work_dir=str(self._session.work_dir),
            title=self._session.state.title,
            model="",
            model_kind="",
            agent="",
            slash_commands=tuple(command.info for command in self._book.commands),
            recording=str(self._session.wire_file),
            read_only=True,
            in_use=self._is_in_use,
        )
        if info != self._told_info:
            self._told_info = info
            self._wire.send(info)

    async def _follow(self, command: Command) -> None:
        try:
            match command:
                case ListSessions(text=text):
                    await self._shelf.tell(text)
                case PreviewSession(id=session_id):
                    await self._shelf.preview(session_id)
                case RunSlash(line=line) if (found := self._book.find(line)) is not None:
                    known, argument = found
                    if isinstance(known, SlashCommand):
                        await known.run(argument)
                case _ if isinstance(command, TravelCommand):
                    await self._timeline.travel(command)
                case _:
                    self._notice(ONLY_READ, WAY_OUT, "warning")
        except KimiTuiError as error:
            self._notice(error.what, error.hint, "error")

    # the files

    async def _follow_files(self) -> None:
        told: object = None
        before: object = None
        while True:
            began = time.monotonic()
            looks = await asyncio.to_thread(_looks_of, self._session.context_file, self._session.wire_file)
            is_at_rest = (
                told is None or looks == before
            )  # results are recorded a little after they are written
            before = looks
            if looks != told and is_at_rest:
                told = looks
                try:
                    await self._tell_what_there_is()
                except KimiTuiError as error:
                    self._notice(error.what, error.hint, "error")
            await self._follow_session()
            await asyncio.sleep(max(self._look_s, _SHARE * (time.monotonic() - began)))

    async def _follow_session(self) -> None:
        """Its name may change, and what the user named; and the other process may end."""
        names, had_ended = self._session.state.names, not self._is_in_use
        await asyncio.to_thread(self._session.reread)
        self._is_in_use = await asyncio.to_thread(self._session.is_in_use)
        self._tell_info()
        if self._session.state.names != names:
            await self._timeline.follow(await asyncio.to_thread(self._reading.line))
        if not (had_ended or self._is_in_use):
            self._notice(
                "The other process has ended.", "This session can be opened for writing: /write.", "info"
            )

    async def _tell_what_there_is(self) -> None:
        line, events = await asyncio.to_thread(self._look)
        self._tell(events)
        await self._timeline.follow(line)

    def _look(self) -> tuple[Line, list[Event]]:
        line = self._reading.line()
        recorded = read_recording(self._session.wire_file)
        said = replayed(line.history, recorded.results, line.marked)
        return line, list(with_commands(said, recorded.commands.values()))

    def _tell(self, events: Sequence[Event]) -> None:
        """Send what is new; all of it when what was told isn't the beginning any more."""
        events, told = list(events), self._told
        if not _goes_on(told, events) and told and isinstance(told[-1], TurnEnd):
            told = told[:-1]  # the turn had not ended, though the files went no further
        goes_on = _goes_on(told, events)
        news = events[len(told) :] if goes_on else events
        self._told = events
        if news or not goes_on:
            self._wire.send(ReplayBegin(anew=not goes_on))
            for event in news:
                self._wire.send(event)
            self._wire.send(ReplayEnd())

    def _notice(self, title: str, body: str, severity: Literal["info", "warning", "error"]) -> None:
        self._wire.send(notice(title, body, source_id=self._session.id, severity=severity))


async def open_reader(wire: Wire, options: EngineOptions, *, look_s: float = _LOOK_S) -> Reader:
    """The session that the options name, or the last one of the folder, to be read. Raises SessionError."""
    session = await asyncio.to_thread(_found, options)
    return Reader(wire, session, options.share_dir, look_s=look_s)


def _found(options: EngineOptions) -> Session:
    if options.session_id is None and SessionStore(options.share_dir).last(options.work_dir) is None:
        raise SessionError(
            "There is no session in this folder to read.",
            hint="Name one: `kimi-tui sessions list` lists those that there are.",
        )
    return replace(options.wanted, continue_last=True, fork=False).found()


def _goes_on(told: Sequence[Event], events: Sequence[Event]) -> bool:
    """Whether `events` begin with what was told. What became of files is known later than its checkpoint."""
    return len(events) >= len(told) and all(
        one == other
        or (
            isinstance(one, CheckpointCreated)
            and isinstance(other, CheckpointCreated)
            and one.uid == other.uid
        )
        for one, other in zip(told, events, strict=False)
    )


def _looks_of(*files: Path) -> list[tuple[int, int, int] | None]:
    looks: list[tuple[int, int, int] | None] = []
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            looks.append(None)
        else:
            looks.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return looks
