"""Engine of a session that is opened read-only, while another process may be writing it."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.recording.index import load_recording, merge_commands
from kimi_tui.engine.recording.replay import replay_events
from kimi_tui.engine.review.read_only_review import ReadOnlyReview
from kimi_tui.engine.session.browser import SessionBrowser
from kimi_tui.engine.session.message_search import MessageSearch
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.slash.registry import SlashCommand, SlashRegistry, TimelineSlashCommand
from kimi_tui.engine.slash.timeline import timeline_slash_commands
from kimi_tui.engine.timeline.read_only import READ_ONLY_HINT, READ_ONLY_MESSAGE, ReadOnlyTimeline
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.read_only import ReadOnlyConversation
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    Command,
    Compare,
    ListSessions,
    PreviewSession,
    ReadBranch,
    RunSlash,
    SearchMessages,
    ShowTimeline,
    Shutdown,
    TimelineCommand,
)
from kimi_tui.wire.events import (
    CheckpointCreated,
    Event,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    TurnEnd,
)
from kimi_tui.wire.review import ListComments, ReadPlannedFile, ReviewChanges
from kimi_tui.wire.why import ExplainLine

_POLL_S = 0.7
"""Seconds between two checks of the files. Longer if reading them is slow."""
_MAX_POLL_SHARE = 10
"""Each pause lasts at least this many times as long as reading the files."""
_FileStat = tuple[int, int, int] | None
"""Inode, size in bytes and modification time in ns of a file. None: the file doesn't exist."""
_FILES_GONE = "The files of this session were deleted. Its conversation stays on the screen."
_FILES_GONE_HINT = "If it is a task of a fleet, open it again with /fleet."


class ReadOnlyEngine:
    """Sends a session's conversation and timeline, follows changes, and writes nothing."""

    def __init__(self, wire: Wire, session: Session, data_dir: Path, *, poll_s: float = _POLL_S) -> None:
        self._wire = wire
        self._session = session
        self._poll_s = poll_s
        self._session_browser = SessionBrowser(
            store=SessionStore(data_dir),
            session=session,
            title=SessionTitle(session),
            sender=wire,
            info=self,
        )
        self._message_search = MessageSearch(data_dir=data_dir, sender=wire)
        self._conversation = ReadOnlyConversation(session.context_file)
        self._timeline = ReadOnlyTimeline(
            conversation=self._conversation, session=session, data_dir=data_dir, sender=wire
        )
        self._review = ReadOnlyReview(self._timeline, session=session, sender=wire)
        self._registry = SlashRegistry(timeline_slash_commands(self._timeline, read_only=True))
        self._sent_events: list[Event] = []
        self._sent_info: SessionInfo | None = None
        self._is_in_use = session.is_in_use()

    async def serve(self) -> None:
        """Replay the session and follow changes until Shutdown, then close the Wire."""
        try:
            self.send_info()
            async with asyncio.TaskGroup() as group:
                polling = group.create_task(self._poll_files())
                async for command in self._wire.commands():
                    if isinstance(command, Shutdown):
                        break
                    await self._handle(command)
                polling.cancel()
        finally:
            self._message_search.close()
            self._wire.close()

    def send_info(self) -> None:
        """Send the session info if it has changed."""
        info = SessionInfo(
            session_id=self._session.id,
            work_dir=str(self._session.work_dir),
            title=self._session.state.title,
            model="",
            model_kind="",
            agent="",
            slash_commands=self._registry.command_infos,
            recording=str(self._session.wire_file),
            read_only=True,
            in_use=self._is_in_use,
        )
        if info != self._sent_info:
            self._sent_info = info
            self._wire.send(info)

    async def _handle(self, command: Command) -> None:
        try:
            match command:
                case ListSessions(text=text):
                    await self._session_browser.send_list(text)
                case SearchMessages(text=text, limit=limit):
                    await self._message_search.search(text, limit)
                case PreviewSession(id=session_id):
                    await self._session_browser.preview(session_id)
                case RunSlash(line=line) if (match := self._registry.find(line)) is not None:
                    slash_command, argument = match
                    if isinstance(slash_command, TimelineSlashCommand):
                        await self._handle(slash_command.parse(argument))
                    elif isinstance(slash_command, SlashCommand):
                        await slash_command.run(argument)
                case ShowTimeline(newest=newest):
                    await self._timeline.send_timeline(newest)
                case ReadBranch(branch=branch):
                    await self._timeline.send_branch(branch)
                case Compare(before=before, after=after):
                    await self._timeline.compare(before, after)
                case ReadPlannedFile():
                    await self._timeline.read_file(command)
                case ExplainLine():
                    await self._timeline.explain_line(command)
                case ReviewChanges():
                    await self._review.review(command)
                case ListComments(plan=plan):
                    await self._review.send_comments(plan)
                case _ if isinstance(command, TimelineCommand):
                    raise KimiTuiError(READ_ONLY_MESSAGE, hint=READ_ONLY_HINT)
                case _:
                    self._send_notice(READ_ONLY_MESSAGE, READ_ONLY_HINT, "warning")
        except KimiTuiError as error:
            self._send_notice(error.what, error.hint, "error")

    # the files

    async def _poll_files(self) -> None:
        sent: list[_FileStat] | None = None
        previous: list[_FileStat] | None = None
        while True:
            start = time.monotonic()
            stats = await asyncio.to_thread(_stat_files, self._session.context_file, self._session.wire_file)
            # The recording gets a tool's result slightly later than the journal does.
            if sent is not None and _are_gone(sent, stats):
                self._send_notice(_FILES_GONE, _FILES_GONE_HINT, "warning")
                return
            is_unchanged = sent is None or stats == previous
            previous = stats
            if stats != sent and is_unchanged:
                sent = stats
                try:
                    await self._send_changes(stats)
                except KimiTuiError as error:
                    self._send_notice(error.what, error.hint, "error")
            await self._poll_session(stats)
            await asyncio.sleep(max(self._poll_s, _MAX_POLL_SHARE * (time.monotonic() - start)))

    async def _poll_session(self, stats: list[_FileStat]) -> None:
        """Send changes of the title and of checkpoint names, and report when the other process exits."""
        names, was_in_use = self._session.state.names, self._is_in_use
        await asyncio.to_thread(self._session.reload_state)
        is_in_use = await asyncio.to_thread(self._session.is_in_use)
        if await self._have_files_vanished(stats):
            return
        self._is_in_use = is_in_use
        self.send_info()
        if self._session.state.names != names:
            await self._timeline.update(await asyncio.to_thread(self._conversation.current_state))
        if was_in_use and not self._is_in_use:
            self._send_notice("The other process has ended.", "Use /write to continue this session.", "info")

    async def _have_files_vanished(self, stats: list[_FileStat]) -> bool:
        """Return whether files were deleted since `stats`, so that later reads may be incomplete."""
        files = (self._session.context_file, self._session.wire_file)
        return _are_gone(stats, await asyncio.to_thread(_stat_files, *files))

    async def _send_changes(self, stats: list[_FileStat]) -> None:
        state, events = await asyncio.to_thread(self._read_events)
        if await self._have_files_vanished(stats):
            return
        self._send_new_events(events)
        await self._timeline.update(state)

    def _read_events(self) -> tuple[ConversationState, list[Event]]:
        state = self._conversation.current_state()
        recording = load_recording(self._session.wire_file)
        events = replay_events(state.history, recording.results, state.indexed_checkpoints)
        return state, list(merge_commands(events, recording.commands.values()))

    def _send_new_events(self, events: Sequence[Event]) -> None:
        """Send the new events. If the events sent before are no longer a prefix, send all events."""
        events, sent = list(events), self._sent_events
        if not _is_continuation(sent, events):
            sent = _without_last_turn_end(sent)
        is_continuation = _is_continuation(sent, events)
        new_events = events[len(sent) :] if is_continuation else events
        self._sent_events = events
        if new_events or not is_continuation:
            self._wire.send(ReplayBegin(anew=not is_continuation))
            for event in new_events:
                self._wire.send(event)
            self._wire.send(ReplayEnd())

    def _send_notice(self, title: str, body: str, severity: Literal["info", "warning", "error"]) -> None:
        self._wire.send(build_notice(title, body, source_id=self._session.id, severity=severity))


async def open_read_only(wire: Wire, options: EngineOptions, *, poll_s: float = _POLL_S) -> ReadOnlyEngine:
    """Open the selected session read-only; by default the latest of the working directory.

    Raises SessionError.
    """
    session = await asyncio.to_thread(_find_session, options)
    return ReadOnlyEngine(wire, session, options.data_dir, poll_s=poll_s)


def _find_session(options: EngineOptions) -> Session:
    if options.session_id is None and SessionStore(options.data_dir).latest(options.work_dir) is None:
        raise SessionError(
            "No session in this directory.",
            hint="Pass a session ID. List sessions with `kimi-tui sessions list`.",
        )
    return replace(options.session_selector, continue_last=True, fork=False, read_only=True).resolve()


def _without_last_turn_end(events: list[Event]) -> list[Event]:
    """Return `events` without a final TurnEnd and the checkpoints that follow it.

    A replay ends the last turn even if that turn is still running. If a step's message hasn't been written
    yet, the step's checkpoint follows that TurnEnd.
    """
    end = len(events)
    while end and isinstance(events[end - 1], CheckpointCreated):
        end -= 1
    return events[: end - 1] if end and isinstance(events[end - 1], TurnEnd) else events


def _is_continuation(sent: Sequence[Event], events: Sequence[Event]) -> bool:
    """Return whether `events` begin with `sent`.

    Checkpoints are compared by `uid`, because their file coverage is recorded later.
    """
    return len(events) >= len(sent) and all(
        one == other
        or (
            isinstance(one, CheckpointCreated)
            and isinstance(other, CheckpointCreated)
            and one.uid == other.uid
        )
        for one, other in zip(sent, events, strict=False)
    )


def _are_gone(before: Sequence[_FileStat], now: Sequence[_FileStat]) -> bool:
    """Return whether a file that existed before is missing now."""
    return any(one is not None and other is None for one, other in zip(before, now, strict=True))


def _stat_files(*files: Path) -> list[_FileStat]:
    stats: list[_FileStat] = []
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            stats.append(None)
        else:
            stats.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return stats
