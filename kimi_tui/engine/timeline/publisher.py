"""Publisher of timeline events: the whole tree on request, then its changes."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from kimi_tui.base.compaction_markers import is_summary, summary_text
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.gc_control import gc_paused
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.engine.checks.step_checks import StepChecks
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.recording.replay import replay_events
from kimi_tui.history.branch import Branch
from kimi_tui.history.checkpoint_tree import CheckpointNode, CheckpointTree, last_nodes
from kimi_tui.history.context import Context
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.records import Checkpoint, StepSummary
from kimi_tui.history.session import Session
from kimi_tui.history.session_state import SessionState, UndoEntry
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.checks import StepCheck
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.timeline import (
    BranchContent,
    FileChanges,
    Timeline,
    TimelineBranch,
    TimelineNode,
    TimelineUpdate,
)

logger = logging.getLogger(__name__)

_MANY_CHECKPOINTS = 2_000
"""Number of checkpoints above which sent nodes are frozen for the garbage collector.

A scan of that many nodes would take as long as drawing a frame.
"""


class TimelinePublisher:
    """Sends the timeline of one session. `run` sends updates once the timeline has been requested."""

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        files: SessionFiles,
        sender: EventSender,
        checks: StepChecks,
    ) -> None:
        self._checks = checks
        self._files = files
        self._session = session
        self._context = context
        self._sender = sender
        self._is_requested = False
        self._tree: CheckpointTree | None = None
        """The tree that was last sent; None if branches have changed since."""
        self._is_outdated = False
        """Whether branches have changed while the tree was being built."""
        self._send_lock = asyncio.Lock()
        """Keeps events in the order of the changes."""
        self._changed_ids: set[int] = set()
        self._wake = asyncio.Event()
        context.on_change = self._mark_changed

    async def run(self) -> None:
        """Send changes as they occur, until canceled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._send_changes()
            except KimiTuiError:
                logger.warning("the timeline can't be read", exc_info=True)

    async def send_timeline(self, newest: int = 0) -> None:
        """Send the whole tree, or only the `newest` checkpoints of a long current branch.

        Raises SessionError.
        """
        self._is_requested = True
        live = self._context.checkpoints
        if 0 < newest <= len(live) // 2:
            self._sender.send(newest_timeline(live, newest, self._session.state, self._to_node))
            return
        async with self._send_lock:
            await self._send_all()

    async def _send_all(self) -> None:
        self._is_outdated = False
        self._changed_ids.clear()
        tree = await self._context.tree()
        self._sender.send(await asyncio.to_thread(full_timeline, tree, self._session.state, self._to_node))
        self._tree = None if self._is_outdated else tree.copy_without_index()

    async def send_branch(self, number: int) -> None:
        """Send the conversation of a branch.

        Raises KimiTuiError if the branch doesn't exist, and SessionError.
        """
        tree = await self._context.tree()
        branch = tree.branch(number)
        if branch is None:
            raise KimiTuiError(
                msg("Branch {branch} doesn't exist.", branch=number),
                hint="Use /branches to list the branches.",
            )
        state = await self._context.read_branch(number)
        self._sender.send(build_branch_content(branch, state, tree, self._context.history))

    def refresh_checkpoint(self, number: int) -> None:
        """Send a checkpoint of the current branch again because its check has changed."""
        self._mark_changed(number)

    def refresh(self) -> None:
        """Send the timeline again because names, undo or redo have changed."""
        self._mark_changed(None)

    def _mark_changed(self, changed: int | None) -> None:
        if not self._is_requested:
            return
        if changed is None:
            self._tree, self._is_outdated = None, True
        else:
            self._changed_ids.add(changed)
        self._wake.set()

    async def _send_changes(self) -> None:
        async with self._send_lock:
            if self._tree is None:
                await self._send_all()
            elif self._changed_ids:
                since, live = min(self._changed_ids), self._context.checkpoints
                self._changed_ids.clear()
                nodes = tuple(map(self._to_node, self._tree.newest_nodes(live, since)))
                self._sender.send(TimelineUpdate(nodes, live[-1].uid if live else None))

    def _to_node(self, node: CheckpointNode) -> TimelineNode:
        names = self._session.state.names
        if node.next is None and node.branch is None:
            return build_node(
                node,
                names,
                summary=summarize_step(self._context.messages_since_checkpoint),
                files=self._files.changes_since_checkpoint(),
                check=self._checks.check_of(node.checkpoint.uid),
            )
        return build_node(node, names, check=self._checks.check_of(node.checkpoint.uid))


def newest_timeline(
    live: Sequence[Checkpoint],
    newest: int,
    state: SessionState,
    to_node: Callable[[CheckpointNode], TimelineNode],
) -> Timeline:
    """Return the newest checkpoints of a long current branch, which front ends show first."""
    nodes = tuple(map(to_node, last_nodes(live, newest)))
    labels = {node.id: node.label for node in nodes}
    return Timeline(
        nodes=nodes,
        current=live[-1].uid if live else None,
        undo=_undo_label(state.undos, labels.get),
        redo=_undo_label(state.redos, labels.get),
        older=len(live) - len(nodes),
    )


def full_timeline(
    tree: CheckpointTree, state: SessionState, to_node: Callable[[CheckpointNode], TimelineNode]
) -> Timeline:
    """Return the whole tree as front ends see it."""
    checkpoint_nodes = tree.nodes.values()
    with gc_paused(should_freeze=lambda: len(checkpoint_nodes) > _MANY_CHECKPOINTS):
        nodes = tuple(map(to_node, checkpoint_nodes))

    def label(number: int) -> str | None:
        node = tree.by_id.get(number)
        return node.checkpoint.label if node is not None else None

    return Timeline(
        nodes=nodes,
        branches=tuple(_build_branch(branch) for branch in tree.own_branches()),
        current=tree.current_branch[-1].uid if tree.current_branch else None,
        undo=_undo_label(state.undos, label),
        redo=_undo_label(state.redos, label),
    )


def build_branch_content(
    branch: Branch, state: ConversationState, tree: CheckpointTree, history: Sequence[Message]
) -> BranchContent:
    """Return the content of `branch`. `state` is its conversation, `history` the current branch's."""
    current_uids = {checkpoint.uid for checkpoint in tree.current_branch}
    shared = [checkpoint.uid for checkpoint in state.checkpoints if checkpoint.uid in current_uids]
    own = state.indexed_checkpoints[len(shared) :]
    first = own[0][0] if own else len(state.history)
    positions = [(count - first, checkpoint) for count, checkpoint in own]
    events = replay_events(state.history[first:], {}, positions)
    summary = ""
    if branch.reason == "compaction":
        summary = next((summary_text(it) for it in history if is_summary(it)), "")
    return BranchContent(branch.number, tuple(map(envelope, events)), shared[-1] if shared else None, summary)


def build_node(
    node: CheckpointNode,
    names: Mapping[str, str],
    *,
    summary: StepSummary | None = None,
    files: FileChanges | None = None,
    check: StepCheck | None = None,
) -> TimelineNode:
    """Return a checkpoint in the form that front ends show.

    `summary` and `files` describe the step after the newest checkpoint. For other checkpoints, the next
    checkpoint has both.
    """
    checkpoint = node.checkpoint
    if node.next is not None:
        summary, files = node.next.done, node.next.changes
    label = checkpoint.label
    if checkpoint.kind == "step" and summary is not None and summary.label:
        label = summary.label
    tools, shell = (summary.tools, summary.shell) if summary is not None else ((), False)
    # Positional arguments: for 10,000 nodes, keyword arguments take as long as everything else.
    return TimelineNode(
        checkpoint.id,
        checkpoint.uid,
        checkpoint.kind,
        label,
        node.parent,
        node.branch,
        names.get(checkpoint.uid, ""),
        checkpoint.time,
        checkpoint.tokens,
        files,
        tools,
        shell,
        node.problem,
        check,
    )


def _build_branch(branch: Branch) -> TimelineBranch:
    return TimelineBranch(
        number=branch.number,
        left=branch.time,
        reason=branch.reason,
        to=branch.to,
        tip=branch.checkpoints[-1].uid if branch.checkpoints else None,
        messages=branch.messages,
    )


def _undo_label(undo_entries: Sequence[UndoEntry], label: Callable[[int], str | None]) -> str:
    """Return the label of the next undo's or redo's checkpoint; empty if `undo_entries` is empty."""
    if not undo_entries:
        return ""
    number = undo_entries[-1].checkpoint
    return label(number) or msg("checkpoint {checkpoint}", checkpoint=number)
