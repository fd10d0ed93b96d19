"""The timeline as front ends see it: the whole tree when they ask for it, then what changes in it."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from kimi_tui.base.collection import uncollected
from kimi_tui.base.compacted import is_summary, summary_text
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.engine.replay import replayed
from kimi_tui.history.branch import Branch
from kimi_tui.history.context import Context
from kimi_tui.history.deed import deed_of
from kimi_tui.history.line import Line
from kimi_tui.history.records import Checkpoint, Deed
from kimi_tui.history.session import Session
from kimi_tui.history.state import Jump, SessionState
from kimi_tui.history.tree import Place, Tree, newest_places
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.events import Event
from kimi_tui.wire.timeline import (
    BranchContent,
    FileChanges,
    Timeline,
    TimelineBranch,
    TimelineNode,
    TimelineUpdate,
)

logger = logging.getLogger(__name__)

_MANY = 2_000
"""Checkpoints from which on the collector need not go through those that were told: it would take a frame."""


class TimelineTeller:
    """Sends the timeline of one session. `run` keeps those up to date who asked for it."""

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        files: Callable[[], FileChanges | None],
        send: Callable[[Event], None],
    ) -> None:
        self._files = files
        """What became of the files since the newest checkpoint."""
        self._session = session
        self._context = context
        self._send = send
        self._asked = False
        self._tree: Tree | None = None
        """As it was last sent; None when the lines have changed since."""
        self._is_outdated = False
        """Whether they have changed since somebody began to put the tree together."""
        self._telling = asyncio.Lock()
        """What is told comes in the order in which it happened."""
        self._changed: set[int] = set()
        self._woken = asyncio.Event()
        context.changed = self._note

    async def run(self) -> None:
        """Tell of changes as they come, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                await self._tell()
            except KimiTuiError:
                logger.warning("the timeline can't be read", exc_info=True)

    async def show(self, newest: int = 0) -> None:
        """Send the whole tree, or the `newest` checkpoints of a long live line. Raises SessionError."""
        self._asked = True
        live = self._context.checkpoints
        if 0 < newest <= len(live) // 2:
            self._send(beginning_of(live, newest, self._session.state, self._node))
            return
        async with self._telling:
            await self._show_all()

    async def _show_all(self) -> None:
        self._is_outdated = False
        self._changed.clear()
        tree = await self._context.tree()
        self._send(await asyncio.to_thread(timeline_of, tree, self._session.state, self._node))
        self._tree = None if self._is_outdated else tree.put_aside()

    async def look_into(self, number: int) -> None:
        """Send what was said on a branch. Raises KimiTuiError when there is none, SessionError."""
        tree = await self._context.tree()
        branch = tree.branch(number)
        if branch is None:
            raise KimiTuiError(f"There is no branch {number}.", hint="/branches lists those that there are.")
        line = await self._context.read_branch(number)
        self._send(branch_content(branch, line, tree, self._context.history))

    def refresh(self) -> None:
        """Tell of other names, or other ways to undo and redo."""
        self._note(None)

    def _note(self, changed: int | None) -> None:
        if not self._asked:
            return
        if changed is None:
            self._tree, self._is_outdated = None, True
        else:
            self._changed.add(changed)
        self._woken.set()

    async def _tell(self) -> None:
        async with self._telling:
            if self._tree is None:
                await self._show_all()
            elif self._changed:
                since, live = min(self._changed), self._context.checkpoints
                self._changed.clear()
                nodes = tuple(map(self._node, self._tree.newest(live, since)))
                self._send(TimelineUpdate(nodes, live[-1].uid if live else None))

    def _node(self, place: Place) -> TimelineNode:
        names = self._session.state.names
        if place.next is None and place.branch is None:
            return node(place, names, done=deed_of(self._context.since_checkpoint), files=self._files())
        return node(place, names)


def beginning_of(
    live: Sequence[Checkpoint], newest: int, state: SessionState, node: Callable[[Place], TimelineNode]
) -> Timeline:
    """What is seen first of a long timeline: the newest checkpoints of the live line, whatever its length."""
    nodes = tuple(map(node, newest_places(live, newest)))
    labels = {known.id: known.label for known in nodes}
    return Timeline(
        nodes=nodes,
        current=live[-1].uid if live else None,
        undo=_way(state.undos, labels.get),
        redo=_way(state.redos, labels.get),
        older=len(live) - len(nodes),
    )


def timeline_of(tree: Tree, state: SessionState, node: Callable[[Place], TimelineNode]) -> Timeline:
    """The whole tree as front ends see it."""
    places = tree.places.values()
    with uncollected(stays=lambda: len(places) > _MANY):
        nodes = tuple(map(node, places))

    def label(number: int) -> str | None:
        place = tree.by_id.get(number)
        return place.checkpoint.label if place is not None else None

    return Timeline(
        nodes=nodes,
        branches=tuple(_branch(branch) for branch in tree.own_branches()),
        current=tree.live[-1].uid if tree.live else None,
        undo=_way(state.undos, label),
        redo=_way(state.redos, label),
    )


def branch_content(branch: Branch, line: Line, tree: Tree, history: Sequence[Message]) -> BranchContent:
    """What was said on a branch, which `line` holds; `history` is that of the live line."""
    live = {known.uid for known in tree.live}
    shared = [known.uid for known in line.checkpoints if known.uid in live]
    own = line.marked[len(shared) :]
    first = own[0][0] if own else len(line.history)
    marked = [(count - first, known) for count, known in own]
    events = replayed(line.history[first:], {}, marked)
    summary = ""
    if branch.reason == "compaction":
        summary = next((summary_text(it) for it in history if is_summary(it)), "")
    return BranchContent(branch.number, tuple(map(envelope, events)), shared[-1] if shared else None, summary)


def node(
    place: Place, names: Mapping[str, str], *, done: Deed | None = None, files: FileChanges | None = None
) -> TimelineNode:
    """A checkpoint as front ends see it. `done` and `files` tell what followed the newest one."""
    checkpoint = place.checkpoint
    if place.next is not None:
        done, files = place.next.done, place.next.changes
    label = checkpoint.label
    if checkpoint.kind == "step" and done is not None and done.label:
        label = done.label
    tools, shell = (done.tools, done.shell) if done is not None else ((), False)
    # By position: with ten thousand of them the fields' names would take as long as all the rest.
    return TimelineNode(
        checkpoint.id,
        checkpoint.uid,
        checkpoint.kind,
        label,
        place.parent,
        place.branch,
        names.get(checkpoint.uid, ""),
        checkpoint.time,
        checkpoint.tokens,
        files,
        tools,
        shell,
        place.problem,
    )


def _branch(branch: Branch) -> TimelineBranch:
    return TimelineBranch(
        number=branch.number,
        left=branch.time,
        reason=branch.reason,
        to=branch.to,
        tip=branch.checkpoints[-1].uid if branch.checkpoints else None,
        messages=branch.messages,
    )


def _way(jumps: Sequence[Jump], label: Callable[[int], str | None]) -> str:
    """Where the next of these jumps leads; empty when there is none."""
    if not jumps:
        return ""
    number = jumps[-1].checkpoint
    return label(number) or f"checkpoint {number}"
