"""Handlers for timeline commands: comparing, naming, forking and listing."""

import asyncio
import time
from typing import TYPE_CHECKING

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.timeline.compare import compare_checkpoints
from kimi_tui.engine.timeline.fork import fork_session
from kimi_tui.engine.timeline.patch import build_patch, write_patch
from kimi_tui.engine.timeline.publisher import TimelinePublisher, build_node
from kimi_tui.engine.timeline.revert_plan_builder import CANCELED_NOTE
from kimi_tui.engine.timeline.revert_target import find_checkpoint
from kimi_tui.engine.timeline.shown_plans import ShownPlans
from kimi_tui.history.branch import Branch
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.commands import WritePatch
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.timeline import Comparison, SessionForked, TimelineNode

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.patch import Patch

_MAX_NAME_LENGTH = 60


class TimelineCommands:
    """Handles timeline commands that don't revert anything. Its methods raise KimiTuiError."""

    def __init__(
        self,
        *,
        session: Session,
        store: SessionStore,
        context: Context,
        files: SessionFiles,
        timeline_publisher: TimelinePublisher,
        todos: SessionTodos,
        shown_plans: ShownPlans,
        sender: EventSender,
    ) -> None:
        self._shown_plans = shown_plans
        self._session = session
        self._store = store
        self._context = context
        self._files = files
        self._timeline_publisher = timeline_publisher
        self._todos = todos
        self._sender = sender

    async def build_patch(self, before: int, after: int | None) -> "Patch":
        """Return a Git patch of the file changes between two checkpoints, or between one and now.

        Raises KimiTuiError.
        """
        return await build_patch(self._context, self._files, before, after)

    async def list_checkpoints(self) -> None:
        """Send a notice that lists the current branch, newest first, and then the uncovered files."""
        tree = await self._context.tree()
        names = self._session.state.names
        # Only the next checkpoint records this summary; until then it belongs to the newest one.
        summary = summarize_step(self._context.messages_since_checkpoint)
        lines = [
            format_checkpoint(build_node(tree.nodes[checkpoint.uid], names, summary=summary))
            for checkpoint in reversed(self._context.checkpoints)
        ]
        uncovered = await self._files.describe_uncovered()
        text = "\n".join([*(lines or ["No checkpoints yet."]), *uncovered])
        self._send_notice("Checkpoints", text)

    async def list_branches(self) -> None:
        """Send a notice that lists the branches that have their own checkpoints, newest first."""
        branches = (await self._context.tree()).own_branches()
        text = "\n".join(map(format_branch, reversed(branches))) or "No branches yet."
        self._send_notice("Branches", text)

    async def compare(self, before: int, after: int | None) -> None:
        """Send the differences between two checkpoints, or between one and now."""
        try:
            comparison = await compare_checkpoints(
                self._context, self._files, before, after, shown_plans=self._shown_plans
            )
        except asyncio.CancelledError:
            self._sender.send(Comparison(before, after, note=CANCELED_NOTE))
            raise
        self._sender.send(comparison)

    async def write_patch(self, command: WritePatch) -> None:
        """Write a patch, and send its path."""
        session = self._session
        written = await write_patch(self._context, self._files, command, work_dir=session.work_dir)
        if written is None:
            self._send_notice("No files differ. No patch was written.", "")
        else:
            self._sender.send(written)

    async def name_checkpoint(self, number: int, name: str) -> None:
        """Name a checkpoint, or remove its name if `name` is empty."""
        uid = find_checkpoint(await self._context.tree(), number).checkpoint.uid
        names = {other: text for other, text in self._session.state.names.items() if other != uid}
        if text := sanitize_line(name)[:_MAX_NAME_LENGTH]:
            names[uid] = text
        elif len(names) == len(self._session.state.names):
            raise KimiTuiError(
                msg("Checkpoint {checkpoint} has no name to remove.", checkpoint=number),
                hint="To name it, type the name after the number.",
            )
        await self._session.update_state(names=names)
        self._timeline_publisher.refresh()
        title = (
            msg("Name of checkpoint {checkpoint}: {name}", checkpoint=number, name=text)
            if text
            else msg("Name of checkpoint {checkpoint} removed.", checkpoint=number)
        )
        self._send_notice(title, "")

    async def fork(self, to: int | None) -> None:
        """Fork the conversation before checkpoint `to` into a new session. None: the whole conversation."""
        node = find_checkpoint(await self._context.tree(), to) if to is not None else None
        todos = self._todos.items if to is None else await self._todos.at_checkpoint(to)
        copy = await fork_session(self._store, self._session, self._context, node, todos)
        self._sender.send(SessionForked(copy.id, copy.state.title, to))

    def _send_notice(self, title: str, body: str) -> None:
        self._sender.send(build_notice(title, body, source_id=self._session.id))


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
