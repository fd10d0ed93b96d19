"""Access to sessions from subcommands: reading the timeline and running timeline commands."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar, assert_never

from kimi_tui.base.errors import SessionInUse, UsageError
from kimi_tui.base.paths import data_dir
from kimi_tui.cli.run_paths import current_dir
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.settings import CheckpointSettings
from kimi_tui.engine.attempts.attempt_store import mark_adopted, missing_attempt
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.timeline.read_only import ReadOnlyTimeline
from kimi_tui.engine.timeline.service import TimelineService
from kimi_tui.history.checkpoint_tree import CheckpointTree
from kimi_tui.history.context import Context
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.read_only import ReadOnlyConversation
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.snapshots.patch import Patch
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.attempts import AdoptAttempts, AttemptChanges, PlanAdoption
from kimi_tui.wire.bisect import Bisect, BisectResult
from kimi_tui.wire.commands import PlanRevert, PlanSwitch, Redo, Revert, SwitchBranch, Undo
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import Event, Reverted
from kimi_tui.wire.timeline import Comparison, RevertPlan, SessionForked
from kimi_tui.workspaces.overlay.write_limit import WriteLimit
from kimi_tui.workspaces.workspaces import Workspaces

E = TypeVar("E", bound=Event)
PlanCommand = PlanRevert | PlanSwitch | PlanAdoption
RevertCommand = Revert | Undo | Redo | SwitchBranch | AdoptAttempts


class SessionAccess:
    """A session opened for timeline commands. The methods return what a command sends.

    They raise KimiTuiError.
    """

    def __init__(self, session: Session, timeline: TimelineService, events: EventList) -> None:
        self._session = session
        self._timeline = timeline
        self._events = events

    async def plan(self, command: PlanCommand) -> RevertPlan:
        """Return the plan of a revert."""
        planner = self._timeline.planner
        match command:
            case PlanRevert():
                return await self._event_of(planner.plan_revert(command), RevertPlan)
            case PlanSwitch():
                return await self._event_of(planner.plan_switch(command), RevertPlan)
            case PlanAdoption():
                return await self._event_of(planner.plan_adoption(command), RevertPlan)
            case _:
                assert_never(command)

    async def revert(self, command: RevertCommand) -> Reverted:
        """Revert to a checkpoint, undo or redo a revert, switch to a branch, or adopt attempts."""
        reverts = self._timeline.reverts
        match command:
            case Revert():
                return await self._event_of(reverts.revert(command), Reverted)
            case Undo():
                return await self._event_of(reverts.undo(command), Reverted)
            case Redo():
                return await self._event_of(reverts.redo(command), Reverted)
            case SwitchBranch():
                return await self._event_of(reverts.switch_branch(command), Reverted)
            case AdoptAttempts():
                return await self._event_of(reverts.adopt(command), Reverted)
            case _:
                assert_never(command)

    async def fork(self, to: int | None) -> SessionForked:
        """Fork the conversation before a checkpoint, or all of it, into a new session."""
        return await self._event_of(self._timeline.commands.fork(to), SessionForked)

    async def name_checkpoint(self, number: int, text: str) -> None:
        """Name a checkpoint."""
        await self._timeline.commands.name_checkpoint(number, text)

    async def compare(self, before: int, after: int | None) -> Comparison:
        """Return the file changes between two checkpoints, or since one."""
        return await self._event_of(self._timeline.commands.compare(before, after), Comparison)

    async def build_patch(self, before: int, after: int | None) -> Patch:
        """Return the same changes as a git patch."""
        return await self._timeline.commands.build_patch(before, after)

    async def bisect(self, command: str) -> BisectResult:
        """Find the step that made a command fail, or pass."""
        return await self._event_of(self._timeline.bisect.run(Bisect(command)), BisectResult)

    async def read_attempt(self, number: int) -> AttemptChanges:
        """Return what an attempt changed, with all diffs."""
        store = self._timeline.attempt_store
        stored = (await asyncio.to_thread(store.read_all)).get(number)
        if stored is None:
            raise missing_attempt(number)
        from kimi_tui.engine.attempts.attempt_changes import build_changed_files

        read = partial(build_changed_files, stored=stored, store=store, n_diffs=None)
        (attempt,) = mark_adopted([stored.attempt], self._session.state)
        return AttemptChanges(attempt, await self._timeline.files.worker.use(read))

    async def _event_of(self, work: Awaitable[None], kind: type[E]) -> E:
        self._events.clear()
        await work
        return next(event for event in self._events if isinstance(event, kind))


@asynccontextmanager
async def open_session_for_command(
    session: Session, *, events: EventList | None = None, workspaces: Workspaces | None = None
) -> AsyncIterator[SessionAccess]:
    """Open and lock a session. Its events are also in `events`.

    Raises SessionError, and SessionInUse while another process has it open.
    """
    session.acquire()
    try:
        context = Context(session.context_file)
        await context.restore()
        events = EventList() if events is None else events
        timeline = TimelineService(
            session=session,
            context=context,
            workspace=PathScope(session.work_dir, tuple(map(Path, session.state.additional_dirs))),
            data_dir=data_dir(),
            settings=checkpoint_settings(session.work_dir),
            todos=SessionTodos(session, context, events),
            sender=events,
            workspaces=workspaces,
        )
        try:
            await timeline.recover()
            yield SessionAccess(session, timeline, events)
        finally:
            await timeline.close()
            await context.close()
    finally:
        session.release()


@asynccontextmanager
async def open_workspaces(session: Session) -> AsyncIterator[Workspaces]:
    """Open the workspaces of a session's working directory. Raises ConfigError."""
    settings = settings_of(read_config(data_dir=data_dir(), work_dir=session.work_dir)).workspaces
    workspaces = Workspaces(data_dir(), choice=settings.backend, limit=WriteLimit(max_mb=settings.max_mb))
    try:
        yield workspaces
    finally:
        await workspaces.close()


def find_session(session_id: str | None) -> Session:
    """Return the session with that id, or the last one of this directory. Raises UsageError, SessionError."""
    store = SessionStore(data_dir())
    if session_id is not None:
        return store.find(session_id)
    session = store.latest(current_dir())
    if session is None:
        raise UsageError("No session in this directory.", hint="Choose one with --session ID.")
    return session


def checkpoint_settings(work_dir: Path) -> CheckpointSettings:
    """Return the checkpoint settings for a working directory. Raises ConfigError."""
    return settings_of(read_config(data_dir=data_dir(), work_dir=work_dir)).checkpoints


# Read-only access, which also works while another process has the session open.


def load_tree(session: Session) -> tuple[ConversationState, CheckpointTree]:
    """Return the state of the current branch and the tree of all branches. Raises SessionError."""
    conversation = ReadOnlyConversation(session.context_file)
    line = conversation.current_state()
    return line, conversation.tree(line)


def last_prompt_checkpoint(session: Session) -> int:
    """Return the checkpoint of the last prompt. Raises SessionError, and UsageError if there is no prompt."""
    checkpoints = ReadOnlyConversation(session.context_file).current_state().checkpoints
    prompts = [known.id for known in checkpoints if known.kind == "user"]
    if not prompts:
        raise UsageError("This session has no prompts yet.", hint="Choose another with --session ID.")
    return prompts[-1]


async def comparison_of(session: Session, before: int, after: int | None) -> Comparison:
    """Return the file changes between two checkpoints, or since one. Raises KimiTuiError."""
    try:
        async with open_session_for_command(session) as access:
            return await access.compare(before, after)
    except SessionInUse:
        events = EventList()
        await _open_timeline(session, events).compare(before, after)
    return next(event for event in events if isinstance(event, Comparison))


async def patch_of(session: Session, before: int, after: int | None) -> Patch:
    """Return the same changes as a git patch. Raises KimiTuiError."""
    try:
        async with open_session_for_command(session) as access:
            return await access.build_patch(before, after)
    except SessionInUse:
        return _open_timeline(session, EventList()).build_patch(before, after)


def read_saved_file(session: Session, checkpoint: int, path: str) -> bytes:
    """Return the content of a file at a checkpoint. Raises KimiTuiError."""
    return _open_timeline(session, EventList()).read_stored_file(checkpoint, path)


def _open_timeline(session: Session, events: EventList) -> ReadOnlyTimeline:
    conversation = ReadOnlyConversation(session.context_file)
    return ReadOnlyTimeline(conversation=conversation, session=session, data_dir=data_dir(), sender=events)
