"""Access to sessions from subcommands: reading the timeline and running timeline commands."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.base.errors import SessionInUse, UsageError
from kimi_tui.base.paths import data_dir
from kimi_tui.cli.run_paths import current_dir
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.settings import CheckpointSettings
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.timeline.commands import TimelineCommands
from kimi_tui.engine.timeline.read_only import ReadOnlyTimeline
from kimi_tui.engine.timeline.service import TimelineService
from kimi_tui.history.checkpoint_tree import CheckpointTree
from kimi_tui.history.context import Context
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.read_only import ReadOnlyConversation
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.snapshots.patch import Patch
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.commands import Compare, TimelineCommand
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import Event
from kimi_tui.wire.timeline import Comparison


@dataclass(frozen=True, slots=True)
class SessionAccess:
    """A session opened for timeline commands."""

    timeline_commands: TimelineCommands
    events: EventList

    async def run(self, command: TimelineCommand) -> list[Event]:
        """Run a command and return its events. Raises KimiTuiError."""
        self.events.clear()
        await self.timeline_commands.handle(command)
        return list(self.events)


@asynccontextmanager
async def open_session_for_command(session: Session) -> AsyncIterator[SessionAccess]:
    """Open and lock a session. Raises SessionError, and SessionInUse while another process has it open."""
    session.acquire()
    try:
        context = Context(session.context_file)
        await context.restore()
        events = EventList()
        timeline = TimelineService(
            session=session,
            context=context,
            workspace=PathScope(session.work_dir, tuple(map(Path, session.state.additional_dirs))),
            data_dir=data_dir(),
            settings=checkpoint_settings(session.work_dir),
            todos=SessionTodos(session, context, events),
            sender=events,
        )
        try:
            await timeline.recover_revert()
            yield SessionAccess(timeline.timeline_commands, events)
        finally:
            await timeline.close()
            await context.close()
    finally:
        session.release()


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
    compare = Compare(before, after)
    try:
        async with open_session_for_command(session) as access:
            events = await access.run(compare)
    except SessionInUse:
        events = EventList()
        await _open_timeline(session, events).handle_timeline_command(compare)
    return next(event for event in events if isinstance(event, Comparison))


async def patch_of(session: Session, before: int, after: int | None) -> Patch:
    """Return the same changes as a git patch. Raises KimiTuiError."""
    try:
        async with open_session_for_command(session) as access:
            return await access.timeline_commands.build_patch(before, after)
    except SessionInUse:
        return _open_timeline(session, EventList()).build_patch(before, after)


def _open_timeline(session: Session, events: EventList) -> ReadOnlyTimeline:
    conversation = ReadOnlyConversation(session.context_file)
    return ReadOnlyTimeline(conversation=conversation, session=session, data_dir=data_dir(), sender=events)
