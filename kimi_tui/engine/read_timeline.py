"""The timeline of a session that is only read: looked at and compared, never travelled."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.comparing import compared_states, states_of
from kimi_tui.engine.notices import notice
from kimi_tui.engine.timeline import beginning_of, branch_content, node, timeline_of
from kimi_tui.engine.travels import listed_branch, listed_checkpoint
from kimi_tui.history.deed import deed_of
from kimi_tui.history.line import Line
from kimi_tui.history.reading import Reading
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.manifest import is_manifest
from kimi_tui.history.state import SessionState
from kimi_tui.history.tree import Place, Tree
from kimi_tui.wire.commands import Compare, LookIntoBranch, ShowTimeline, TravelCommand
from kimi_tui.wire.events import Event
from kimi_tui.wire.timeline import Comparison, TimelineNode

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.patch import Patch

ONLY_READ = "This session is read only: nothing can be changed in it."
WAY_OUT = "/write goes on with it."
_NOTHING = "Nothing differs from how the session saw the files last."
_AS_SEEN = "“Now” is how the session saw the files last; what has changed since then is not in it."


class ReadTimeline:
    """Answers what asks about the timeline. It is a `Traveller` that stays where it is."""

    def __init__(
        self, *, reading: Reading, session: Session, share_dir: Path, send: Callable[[Event], None]
    ) -> None:
        self._reading = reading
        self._session = session
        self._share_dir = share_dir
        self._send = send
        self._is_asked = False
        self._line: Line | None = None
        """As it was last followed: reading a long one anew takes its time."""

    async def follow(self, line: Line) -> None:
        """The conversation has changed: tell who asked for its timeline. Raises SessionError."""
        self._line = line
        if self._is_asked:
            await self._show(line)

    async def travel(self, command: TravelCommand) -> None:
        """Do what only looks. Raises KimiTuiError for all else, and for what there is not."""
        match command:
            case ShowTimeline(newest=newest):
                self._is_asked = True
                await self._show(await asyncio.to_thread(self._read), newest)
            case LookIntoBranch(branch=number):
                await self._look_into(number)
            case Compare(before=before, after=after):
                self._send(await asyncio.to_thread(self._compared, before, after))
            case _:
                raise KimiTuiError(ONLY_READ, hint=WAY_OUT)

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        line, tree = await asyncio.to_thread(self._look)
        names, done = self._session.state.names, deed_of(line.since_checkpoint)
        lines = [
            listed_checkpoint(node(tree.places[known.uid], names, done=done)) for known in reversed(tree.live)
        ]
        self._tell("Checkpoints", "\n".join(lines) or "There are no checkpoints yet.")

    async def list_branches(self) -> None:
        """Show the branches."""
        _, tree = await asyncio.to_thread(self._look)
        lines = map(listed_branch, reversed(tree.own_branches()))
        self._tell("Branches", "\n".join(lines) or "There are no branches yet.")

    def _tell(self, title: str, body: str) -> None:
        self._send(notice(title, body, source_id=self._session.id))

    def _read(self) -> Line:
        return self._line if self._line is not None else self._reading.line()

    def _look(self) -> tuple[Line, Tree]:
        line = self._read()
        return line, self._reading.tree(line)

    async def _show(self, line: Line, newest: int = 0) -> None:
        names = self._session.state.names

        def as_node(place: Place) -> TimelineNode:
            is_newest = place.next is None and place.branch is None
            return node(place, names, done=deed_of(line.since_checkpoint) if is_newest else None)

        nowhere = SessionState()  # neither undo nor redo leads anywhere from here
        if 0 < newest <= len(line.checkpoints) // 2:
            self._send(beginning_of(line.checkpoints, newest, nowhere, as_node))
            return
        tree = await asyncio.to_thread(self._reading.tree, line)
        self._send(await asyncio.to_thread(timeline_of, tree, nowhere, as_node))

    async def _look_into(self, number: int) -> None:
        live, tree = await asyncio.to_thread(self._look)
        line = await asyncio.to_thread(self._reading.branch, number)
        branch = tree.branch(number)
        if line is None or branch is None:
            raise KimiTuiError(f"There is no branch {number}.", hint="/branches lists those that there are.")
        self._send(branch_content(branch, line, tree, live.history))

    def patch(self, before: int, after: int | None) -> "Patch":
        """How the files differ, for git; “now” is how the session saw them last.

        Blocks. Raises KimiTuiError.
        """
        _, tree = self._look()
        states = states_of(tree, before, after)
        if isinstance(states, Comparison):
            raise KimiTuiError(states.note, hint="Choose another checkpoint.")
        history = self._history(tree)
        first, *second = states
        return history.patch(first, second[0] if second else history.newest or first)

    def _history(self, tree: Tree) -> "FileHistory":
        from kimi_tui.history.snapshots.file_history import FileHistory
        from kimi_tui.history.snapshots.store import ProjectStore

        history = FileHistory(ProjectStore(self._share_dir, self._session.work_dir, self._session.id))
        history.count_as_own(known.files for known in tree.live if known.files and is_manifest(known.files))
        return history

    def _compared(self, before: int, after: int | None) -> Comparison:
        _, tree = self._look()
        states = states_of(tree, before, after)
        if isinstance(states, Comparison):
            return states
        history = self._history(tree)
        try:
            if after is not None:
                return compared_states(history, before, after, *states)
            newest = history.newest or states[0]
            comparison = compared_states(history, before, after, states[0], newest, note=_AS_SEEN)
            return comparison if comparison.files else replace(comparison, note=_NOTHING)
        except KimiTuiError as error:
            return Comparison(before, after, note=str(error))
