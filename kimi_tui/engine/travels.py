"""Travels: what a user does with the timeline, from looking at it to going elsewhere in it."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.comparing import compared
from kimi_tui.engine.destination import Destination, found
from kimi_tui.engine.forking import forked
from kimi_tui.engine.notices import notice
from kimi_tui.engine.patching import patch_between, write_patch
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.time_travel import GIVEN_UP, TimeTravel
from kimi_tui.engine.timeline import TimelineTeller, node
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.history.branch import Branch
from kimi_tui.history.context import Context
from kimi_tui.history.deed import deed_of
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    LookIntoBranch,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    ShowTimeline,
    SwitchBranch,
    TravelCommand,
    Undo,
    WritePatch,
)
from kimi_tui.wire.events import Event
from kimi_tui.wire.timeline import Comparison, SessionForked, TimelineNode

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.patch import Patch

_LOOKING = (ShowTimeline, LookIntoBranch, Compare, WritePatch, NameCheckpoint, PlanRevert, PlanSwitch)
_NAME_LENGTH = 60


class Travels:
    """Carries out the commands of the timeline. Each raises KimiTuiError."""

    def __init__(
        self,
        *,
        session: Session,
        store: SessionStore,
        context: Context,
        files: SessionFiles,
        teller: TimelineTeller,
        time_travel: TimeTravel,
        todos: SessionTodos,
        send: Callable[[Event], None],
    ) -> None:
        self._session = session
        self._store = store
        self._context = context
        self._files = files
        self._teller = teller
        self._time_travel = time_travel
        self._todos = todos
        self._destinations = time_travel.destinations
        self._send = send

    @staticmethod
    def needs_rest(command: TravelCommand) -> bool:
        """Whether it can't be done while a turn runs."""
        return not isinstance(command, _LOOKING)

    async def do(self, command: TravelCommand) -> None:
        """Do what `command` says."""
        match command:
            case ShowTimeline(newest=newest):
                await self._teller.show(newest)
            case LookIntoBranch(branch=branch):
                await self._teller.look_into(branch)
            case Compare(before=before, after=after):
                await self._compare(before, after)
            case WritePatch():
                await self._write_patch(command)
            case NameCheckpoint(id=number, name=name):
                await self._name(number, name)
            case ForkSession(to=to):
                await self._fork(to)
            case PlanRevert() | PlanSwitch():
                await self._time_travel.show_plan(await self._destination(command))
            case Revert(paths=paths, note=note):
                await self._go(await self._destination(command), paths, note)
            case Undo(paths=paths) | Redo(paths=paths) | SwitchBranch(paths=paths):
                await self._go(await self._destination(command), paths)
            case _:
                assert_never(command)

    async def clear(self) -> bool:
        """Empty the conversation. Whether there was anything."""
        cleared = await self._time_travel.clear()
        self._teller.refresh()
        return cleared

    async def patch(self, before: int, after: int | None) -> "Patch":
        """How the files differ between two checkpoints, or one and now, for git. Raises KimiTuiError."""
        return await patch_between(self._context, self._files, before, after)

    async def listed(self) -> str:
        """The checkpoints of the live line, one a line, the newest first, and what is not covered."""
        tree = await self._context.tree()
        names, places = self._session.state.names, tree.places
        done = deed_of(self._context.since_checkpoint)  # which the newest knows nothing of yet
        lines = [
            listed_checkpoint(node(places[known.uid], names, done=done))
            for known in reversed(self._context.checkpoints)
        ]
        uncovered = await self._files.not_covered()
        return "\n".join([*(lines or ["There are no checkpoints yet."]), *uncovered])

    async def listed_branches(self) -> str:
        """The branches that have something of their own, one a line, the newest first."""
        branches = (await self._context.tree()).own_branches()
        return "\n".join(map(listed_branch, reversed(branches))) or "There are no branches yet."

    async def _destination(
        self, command: PlanRevert | PlanSwitch | Revert | Undo | Redo | SwitchBranch
    ) -> Destination:
        match command:
            case PlanRevert(to="undo") | Undo():
                return self._destinations.back("undo")
            case PlanRevert(to="redo") | Redo():
                return self._destinations.back("redo")
            case PlanRevert(to=to, scope=scope) | Revert(to=to, scope=scope):
                return await self._destinations.checkpoint(int(to), scope)
            case PlanSwitch(branch=branch, to=to):
                return await self._destinations.branch(branch, to, "both")
            case SwitchBranch(branch=branch, to=to, scope=scope):
                return await self._destinations.branch(branch, to, scope)
            case _:
                assert_never(command)

    async def _compare(self, before: int, after: int | None) -> None:
        try:
            comparison = await compared(self._context, self._files, before, after)
        except asyncio.CancelledError:
            self._send(Comparison(before, after, note=GIVEN_UP))
            raise
        self._send(comparison)

    async def _write_patch(self, command: WritePatch) -> None:
        known = self._session
        written = await write_patch(self._context, self._files, command, work_dir=known.work_dir)
        if written is None:
            self._send(notice("No file differs, so no patch was written.", "", source_id=known.id))
        else:
            self._send(written)

    async def _go(self, destination: Destination, paths: tuple[str, ...] | None, note: str = "") -> None:
        try:
            await self._time_travel.go(destination, paths, note)
        finally:
            self._teller.refresh()

    async def _name(self, number: int, name: str) -> None:
        uid = found(await self._context.tree(), number).checkpoint.uid
        names = {known: text for known, text in self._session.state.names.items() if known != uid}
        if text := plain_line(name)[:_NAME_LENGTH]:
            names[uid] = text
        elif len(names) == len(self._session.state.names):
            raise KimiTuiError(
                f"Checkpoint {number} has no name that could be taken away.",
                hint="Type the name behind its number to give it one.",
            )
        await self._session.update_state(names=names)
        self._teller.refresh()
        named, unnamed = f"Checkpoint {number} is named “{text}”.", f"Checkpoint {number} has no name now."
        self._send(notice(named if text else unnamed, "", source_id=self._session.id))

    async def _fork(self, to: int | None) -> None:
        place = found(await self._context.tree(), to) if to is not None else None
        todos = self._todos.items if to is None else await self._todos.at(to)
        copy = await forked(self._store, self._session, self._context, place, todos)
        self._send(SessionForked(copy.id, copy.state.title, to))


def listed_checkpoint(known: TimelineNode) -> str:
    """A checkpoint in one line."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(known.time))
    changes = ""
    if known.files is not None and known.files.changed:
        noun = "file" if known.files.changed == 1 else "files"
        changes = f"  +{known.files.added_lines} −{known.files.removed_lines} in {known.files.changed} {noun}"
    marks = "".join(
        mark
        for mark, there in (
            (f"  “{known.name}”", known.name),
            ("  $", known.shell),
            (f"  branch {known.branch}", known.branch is not None),
            ("  (conversation only)", known.problem),
        )
        if there
    )
    return f"{known.id:>5}  {when}  {known.kind:10}  {known.label}{changes}{marks}"


def listed_branch(branch: Branch) -> str:
    """A branch in one line."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(branch.time))
    why = {None: "left", "user": "reverted"}.get(branch.reason, branch.reason)
    last = branch.checkpoints[-1]
    first = next((known for known in reversed(branch.checkpoints) if known.kind == "user"), last)
    return f"{branch.number:>5}  {when}  {why:10}  up to checkpoint {last.id}: {first.label}"
