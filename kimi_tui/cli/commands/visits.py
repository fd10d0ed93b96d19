"""Visits to a session from a shell: reading its timeline, and opening it to travel there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from kimi_tui.base.errors import SessionInUse, UsageError
from kimi_tui.base.paths import share_dir
from kimi_tui.cli.places import current_dir
from kimi_tui.config.loading import read_config, settings_of
from kimi_tui.config.settings import Checkpoints
from kimi_tui.engine.read_timeline import ReadTimeline
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.travels import Travels
from kimi_tui.history.context import Context
from kimi_tui.history.line import Line
from kimi_tui.history.reading import Reading
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.snapshots.patch import Patch
from kimi_tui.history.tree import Tree
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.commands import Compare, TravelCommand
from kimi_tui.wire.events import Event
from kimi_tui.wire.timeline import Comparison


@dataclass(frozen=True, slots=True)
class Visit:
    """A session that is open for travelling."""

    travels: Travels
    heard: list[Event]

    async def do(self, command: TravelCommand) -> list[Event]:
        """What came of a command. Raises KimiTuiError."""
        self.heard.clear()
        await self.travels.do(command)
        return list(self.heard)


@asynccontextmanager
async def visit(session: Session) -> AsyncIterator[Visit]:
    """Hold a session meanwhile. Raises SessionInUse while another process does, SessionError."""
    session.acquire()
    try:
        context = Context(session.context_file)
        await context.restore()
        heard: list[Event] = []
        machine = TimeMachine(
            session=session,
            context=context,
            workspace=Workspace(session.work_dir, tuple(map(Path, session.state.additional_dirs))),
            share_dir=share_dir(),
            settings=checkpoint_settings(session.work_dir),
            todos=SessionTodos(session, context, heard.append),
            send=heard.append,
        )
        try:
            await machine.settle()
            yield Visit(machine.travels, heard)
        finally:
            await machine.close()
            await context.close()
    finally:
        session.release()


def session_of(session_id: str | None) -> Session:
    """The session of that id, or the last of this folder. Raises UsageError, SessionError."""
    store = SessionStore(share_dir())
    if session_id is not None:
        return store.find(session_id)
    session = store.last(current_dir())
    if session is None:
        raise UsageError("There is no session in this folder.", hint="Name one with --session ID.")
    return session


def checkpoint_settings(work_dir: Path) -> Checkpoints:
    """What the config says of checkpoints in a folder. Raises ConfigError."""
    return settings_of(read_config(share_dir=share_dir(), work_dir=work_dir)).checkpoints


# what needs only reading, also while another process writes the session


def tree_of(session: Session) -> tuple[Line, Tree]:
    """The live line of the conversation, and all of them put together. Raises SessionError."""
    reading = Reading(session.context_file)
    line = reading.line()
    return line, reading.tree(line)


def last_prompt(session: Session) -> int:
    """The checkpoint of what the user said last. Raises UsageError when that is nothing, SessionError."""
    checkpoints = Reading(session.context_file).line().checkpoints
    prompts = [known.id for known in checkpoints if known.kind == "user"]
    if not prompts:
        raise UsageError("Nothing was said in this session yet.", hint="Name another with --session ID.")
    return prompts[-1]


async def comparison_of(session: Session, before: int, after: int | None) -> Comparison:
    """How the files differ between two checkpoints, or one and now. Raises KimiTuiError."""
    compare = Compare(before, after)
    try:
        async with visit(session) as visited:
            heard = await visited.do(compare)
    except SessionInUse:
        heard = []
        await _reader(session, heard).travel(compare)
    return next(event for event in heard if isinstance(event, Comparison))


async def patch_of(session: Session, before: int, after: int | None) -> Patch:
    """The same for git. Raises KimiTuiError."""
    try:
        async with visit(session) as visited:
            return await visited.travels.patch(before, after)
    except SessionInUse:
        return _reader(session, []).patch(before, after)


def _reader(session: Session, heard: list[Event]) -> ReadTimeline:
    reading = Reading(session.context_file)
    return ReadTimeline(reading=reading, session=session, share_dir=share_dir(), send=heard.append)
