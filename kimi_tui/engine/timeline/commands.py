"""Handlers for timeline commands: showing, comparing, naming, forking and reverting."""

import asyncio
import time
from typing import TYPE_CHECKING, assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.timeline.compare import compare_checkpoints
from kimi_tui.engine.timeline.fork import fork_session
from kimi_tui.engine.timeline.patch import build_patch, write_patch
from kimi_tui.engine.timeline.publisher import TimelinePublisher, build_node
from kimi_tui.engine.timeline.revert_executor import CANCELED_NOTE, RevertExecutor
from kimi_tui.engine.timeline.revert_target import RevertTarget, find_checkpoint
from kimi_tui.history.branch import Branch
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    ReadBranch,
    Redo,
    Revert,
    ShowTimeline,
    SwitchBranch,
    TimelineCommand,
    Undo,
    WritePatch,
)
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.timeline import Comparison, SessionForked, TimelineNode

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.patch import Patch

_ALLOWED_DURING_TURN = (ShowTimeline, ReadBranch, Compare, WritePatch, NameCheckpoint, PlanRevert, PlanSwitch)
_MAX_NAME_LENGTH = 60


class TimelineCommands:
    """Handles the commands of the timeline. Its methods raise KimiTuiError."""

    def __init__(
        self,
        *,
        session: Session,
        store: SessionStore,
        context: Context,
        files: SessionFiles,
        timeline_publisher: TimelinePublisher,
        revert_executor: RevertExecutor,
        todos: SessionTodos,
        sender: EventSender,
    ) -> None:
        self._session = session
        self._store = store
        self._context = context
        self._files = files
        self._timeline_publisher = timeline_publisher
        self._revert_executor = revert_executor
        self._todos = todos
        self._targets = revert_executor.targets
        self._sender = sender

    @staticmethod
    def requires_idle(command: TimelineCommand) -> bool:
        """Return whether `command` can't be handled while a turn runs."""
        return not isinstance(command, _ALLOWED_DURING_TURN)

    async def handle(self, command: TimelineCommand) -> None:
        """Handle `command`."""
        match command:
            case ShowTimeline(newest=newest):
                await self._timeline_publisher.send_timeline(newest)
            case ReadBranch(branch=branch):
                await self._timeline_publisher.send_branch(branch)
            case Compare(before=before, after=after):
                await self._compare(before, after)
            case WritePatch():
                await self._write_patch(command)
            case NameCheckpoint(id=number, name=name):
                await self._set_name(number, name)
            case ForkSession(to=to):
                await self._fork(to)
            case PlanRevert() | PlanSwitch():
                await self._revert_executor.send_plan(await self._resolve_target(command))
            case Revert(paths=paths, note=note):
                await self._revert(await self._resolve_target(command), paths, note)
            case Undo(paths=paths) | Redo(paths=paths) | SwitchBranch(paths=paths):
                await self._revert(await self._resolve_target(command), paths)
            case _:
                assert_never(command)

    async def clear(self) -> bool:
        """Empty the conversation. Return whether it held any messages."""
        cleared = await self._revert_executor.clear()
        self._timeline_publisher.refresh()
        return cleared

    async def build_patch(self, before: int, after: int | None) -> "Patch":
        """Return a Git patch of the file changes between two checkpoints, or between one and now.

        Raises: KimiTuiError.
        """
        return await build_patch(self._context, self._files, before, after)

    async def format_checkpoints(self) -> str:
        """Return the checkpoints of the current branch, one per line, newest first, then what isn't
        covered.
        """
        tree = await self._context.tree()
        names = self._session.state.names
        # Only the next checkpoint records this summary; until then it belongs to the newest one.
        summary = summarize_step(self._context.messages_since_checkpoint)
        lines = [
            format_checkpoint(build_node(tree.nodes[checkpoint.uid], names, summary=summary))
            for checkpoint in reversed(self._context.checkpoints)
        ]
        uncovered = await self._files.describe_uncovered()
        return "\n".join([*(lines or ["No checkpoints yet."]), *uncovered])

    async def format_branches(self) -> str:
        """Return the branches that have their own checkpoints, one per line, newest first."""
        branches = (await self._context.tree()).own_branches()
        return "\n".join(map(format_branch, reversed(branches))) or "No branches yet."

    async def _resolve_target(
        self, command: PlanRevert | PlanSwitch | Revert | Undo | Redo | SwitchBranch
    ) -> RevertTarget:
        match command:
            case PlanRevert(to="undo") | Undo():
                return self._targets.for_undo_or_redo("undo")
            case PlanRevert(to="redo") | Redo():
                return self._targets.for_undo_or_redo("redo")
            case PlanRevert(to=to, scope=scope) | Revert(to=to, scope=scope):
                return await self._targets.for_checkpoint(int(to), scope)
            case PlanSwitch(branch=branch, to=to):
                return await self._targets.for_branch(branch, to, "both")
            case SwitchBranch(branch=branch, to=to, scope=scope):
                return await self._targets.for_branch(branch, to, scope)
            case _:
                assert_never(command)

    async def _compare(self, before: int, after: int | None) -> None:
        try:
            comparison = await compare_checkpoints(self._context, self._files, before, after)
        except asyncio.CancelledError:
            self._sender.send(Comparison(before, after, note=CANCELED_NOTE))
            raise
        self._sender.send(comparison)

    async def _write_patch(self, command: WritePatch) -> None:
        session = self._session
        written = await write_patch(self._context, self._files, command, work_dir=session.work_dir)
        if written is None:
            self._sender.send(
                build_notice("No files differ. No patch was written.", "", source_id=session.id)
            )
        else:
            self._sender.send(written)

    async def _revert(self, target: RevertTarget, paths: tuple[str, ...] | None, note: str = "") -> None:
        try:
            await self._revert_executor.revert(target, paths, note)
        finally:
            self._timeline_publisher.refresh()

    async def _set_name(self, number: int, name: str) -> None:
        uid = find_checkpoint(await self._context.tree(), number).checkpoint.uid
        names = {other: text for other, text in self._session.state.names.items() if other != uid}
        if text := sanitize_line(name)[:_MAX_NAME_LENGTH]:
            names[uid] = text
        elif len(names) == len(self._session.state.names):
            raise KimiTuiError(
                f"Checkpoint {number} has no name to remove.",
                hint="To name it, type the name after the number.",
            )
        await self._session.update_state(names=names)
        self._timeline_publisher.refresh()
        title = f"Name of checkpoint {number}: {text}" if text else f"Name of checkpoint {number} removed."
        self._sender.send(build_notice(title, "", source_id=self._session.id))

    async def _fork(self, to: int | None) -> None:
        node = find_checkpoint(await self._context.tree(), to) if to is not None else None
        todos = self._todos.items if to is None else await self._todos.at_checkpoint(to)
        copy = await fork_session(self._store, self._session, self._context, node, todos)
        self._sender.send(SessionForked(copy.id, copy.state.title, to))


def format_checkpoint(node: TimelineNode) -> str:
    """Return a one-line description of a checkpoint."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(node.time))
    changes = ""
    if node.files is not None and node.files.changed:
        noun = "file" if node.files.changed == 1 else "files"
        changes = f"  +{node.files.added_lines} −{node.files.removed_lines} in {node.files.changed} {noun}"
    tags = "".join(
        tag
        for tag, is_present in (
            (f"  “{node.name}”", node.name),
            ("  $", node.shell),
            (f"  branch {node.branch}", node.branch is not None),
            ("  (conversation only)", node.problem),
        )
        if is_present
    )
    return f"{node.id:>5}  {when}  {node.kind:10}  {node.label}{changes}{tags}"


def format_branch(branch: Branch) -> str:
    """Return a one-line description of a branch."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(branch.time))
    reason = {None: "left", "user": "reverted"}.get(branch.reason, branch.reason)
    last = branch.checkpoints[-1]
    newest_prompt = next((it for it in reversed(branch.checkpoints) if it.kind == "user"), last)
    return f"{branch.number:>5}  {when}  {reason:10}  up to checkpoint {last.id}: {newest_prompt.label}"
