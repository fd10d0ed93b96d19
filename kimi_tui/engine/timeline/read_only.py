"""Timeline of a session that is open read-only: shows and compares checkpoints, but can't revert."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import unique_path
from kimi_tui.engine.session.notices import build_notice
from kimi_tui.engine.timeline.commands import format_branch, format_checkpoint
from kimi_tui.engine.timeline.compare import build_comparison, find_differences, resolve_states
from kimi_tui.engine.timeline.publisher import (
    build_branch_content,
    build_node,
    full_timeline,
    newest_timeline,
)
from kimi_tui.engine.timeline.shown_plans import ShownPlans
from kimi_tui.engine.why.why_service import explain_stored_line
from kimi_tui.history.check_log import read_step_checks
from kimi_tui.history.checkpoint_tree import CheckpointNode, CheckpointTree
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.manifest_id import is_manifest
from kimi_tui.history.read_only import ReadOnlyConversation
from kimi_tui.history.session import Session
from kimi_tui.history.session_state import SessionState
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.review import PlannedFileContent, ReadPlannedFile
from kimi_tui.wire.timeline import Comparison, TimelineNode
from kimi_tui.wire.why import ExplainLine

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.patch import Patch

READ_ONLY_MESSAGE = "This session is read-only."
READ_ONLY_HINT = "Use /write to continue it."
_NO_DIFFERENCE_NOTE = "No differences from the session's last file snapshot."
LAST_SEEN_NOTE = "“Now” is the session's last file snapshot. Later changes aren't included."


class ReadOnlyTimeline:
    """Timeline of a session that is open read-only."""

    def __init__(
        self,
        *,
        conversation: ReadOnlyConversation,
        session: Session,
        data_dir: Path,
        sender: EventSender,
    ) -> None:
        self._conversation = conversation
        self._session = session
        self._data_dir = data_dir
        self._sender = sender
        self._is_requested = False
        self._state: ConversationState | None = None
        """Latest state, kept because reading a long conversation again is slow."""
        self.shown_plans = ShownPlans()
        """The comparisons and reviews that were shown."""

    async def update(self, state: ConversationState) -> None:
        """Store the new state of the conversation. Send its timeline if a front end has requested it.

        Raises SessionError.
        """
        self._state = state
        if self._is_requested:
            await self._send_state(state)

    async def send_timeline(self, newest: int = 0) -> None:
        """Send the whole tree, or only the `newest` checkpoints of a long current branch.

        Raises SessionError.
        """
        self._is_requested = True
        await self._send_state(await asyncio.to_thread(self._read_state), newest)

    async def compare(self, before: int, after: int | None) -> None:
        """Send the differences between two checkpoints, or between one and the last file snapshot.

        Raises KimiTuiError if a checkpoint doesn't exist, and SessionError.
        """
        self._sender.send(await asyncio.to_thread(self._compare, before, after))

    async def read_file(self, command: ReadPlannedFile) -> None:
        """Send a file of a comparison or review with its diff and hunks. Raises KimiTuiError."""
        self._sender.send(await asyncio.to_thread(self._read_file, command))

    def _read_file(self, command: ReadPlannedFile) -> PlannedFileContent:
        from kimi_tui.engine.review.review_queries import read_planned_file

        shown = self.shown_plans.find(command.plan)
        return read_planned_file(self.open_history(self.read_tree()), shown, command.path)

    async def explain_line(self, command: ExplainLine) -> None:
        """Send the origin of a line, according to the stored states. Raises KimiTuiError."""
        self._sender.send(
            await asyncio.to_thread(
                explain_stored_line,
                self._data_dir,
                self._session.work_dir,
                command.path,
                command.line,
                session=self._session,
            )
        )

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        state, tree = await asyncio.to_thread(self._read_tree)
        names, summary = self._session.state.names, summarize_step(state.messages_since_checkpoint)
        lines = [
            format_checkpoint(build_node(tree.nodes[checkpoint.uid], names, summary=summary))
            for checkpoint in reversed(tree.current_branch)
        ]
        self._send_notice("Checkpoints", "\n".join(lines) or "No checkpoints yet.")

    async def list_branches(self) -> None:
        """Show the branches."""
        _, tree = await asyncio.to_thread(self._read_tree)
        lines = map(format_branch, reversed(tree.own_branches()))
        self._send_notice("Branches", "\n".join(lines) or "No branches yet.")

    def _send_notice(self, title: str, body: str) -> None:
        self._sender.send(build_notice(title, body, source_id=self._session.id))

    def _read_state(self) -> ConversationState:
        return self._state if self._state is not None else self._conversation.current_state()

    def _read_tree(self) -> tuple[ConversationState, CheckpointTree]:
        state = self._read_state()
        return state, self._conversation.tree(state)

    async def _send_state(self, state: ConversationState, newest: int = 0) -> None:
        names = self._session.state.names
        checks = await asyncio.to_thread(read_step_checks, self._session.dir)

        def to_node(node: CheckpointNode) -> TimelineNode:
            is_newest = node.next is None and node.branch is None
            return build_node(
                node,
                names,
                summary=summarize_step(state.messages_since_checkpoint) if is_newest else None,
                check=checks.get(node.checkpoint.uid),
            )

        no_undo = SessionState()  # undo and redo aren't available in a read-only session
        if 0 < newest <= len(state.checkpoints) // 2:
            self._sender.send(newest_timeline(state.checkpoints, newest, no_undo, to_node))
            return
        tree = await asyncio.to_thread(self._conversation.tree, state)
        self._sender.send(await asyncio.to_thread(full_timeline, tree, no_undo, to_node))

    async def send_branch(self, number: int) -> None:
        """Send the conversation of a branch. Raises KimiTuiError if the branch doesn't exist."""
        current, tree = await asyncio.to_thread(self._read_tree)
        state = await asyncio.to_thread(self._conversation.read_branch, number)
        branch = tree.branch(number)
        if state is None or branch is None:
            raise KimiTuiError(
                msg("Branch {branch} doesn't exist.", branch=number),
                hint="Use /branches to list the branches.",
            )
        self._sender.send(build_branch_content(branch, state, tree, current.history))

    def build_patch(self, before: int, after: int | None) -> "Patch":
        """Return a Git patch of the file changes. “Now” is the session's last file snapshot.

        Blocks. Raises KimiTuiError.
        """
        _, tree = self._read_tree()
        states = resolve_states(tree, before, after)
        if isinstance(states, Comparison):
            raise KimiTuiError(states.note, hint="Choose another checkpoint.")
        history = self.open_history(tree)
        first, *second = states
        return history.patch(first, second[0] if second else history.newest or first)

    def read_stored_file(self, checkpoint: int, path: str) -> bytes:
        """Return the content of a file at a checkpoint. `path` is the file's path in plans.

        Blocks. Raises KimiTuiError.
        """
        from kimi_tui.history.snapshots.blob_store import BlobMissing
        from kimi_tui.history.snapshots.manifest import ManifestMissing

        _, tree = self._read_tree()
        states = resolve_states(tree, checkpoint, checkpoint)
        if isinstance(states, Comparison):
            raise KimiTuiError(states.note, hint="Choose another checkpoint.")
        history = self.open_history(tree)
        missing = KimiTuiError(
            msg("Checkpoint {checkpoint} has no file {path}.", checkpoint=checkpoint, path=path),
            hint="Use a name that `kimi-tui checkpoints diff` lists.",
        )
        try:
            entries = history.manifests.entries(states[0]).items()
            entry = next((it for name, it in entries if unique_path(name) == path), None)
            if entry is None or entry.kind != "file":
                raise missing
            return history.blobs.read(entry.ref)
        except (BlobMissing, ManifestMissing) as error:
            raise missing from error

    def read_tree(self) -> CheckpointTree:
        """Return the tree of all branches. Blocks. Raises SessionError."""
        return self._read_tree()[1]

    def open_history(self, tree: CheckpointTree) -> "FileHistory":
        """Return the stored file history of the session."""
        from kimi_tui.history.snapshots.file_history import FileHistory
        from kimi_tui.history.snapshots.project_store import ProjectStore

        history = FileHistory(ProjectStore(self._data_dir, self._session.work_dir, self._session.id))
        history.add_own_sessions(
            checkpoint.files
            for checkpoint in tree.current_branch
            if checkpoint.files and is_manifest(checkpoint.files)
        )
        return history

    def _compare(self, before: int, after: int | None) -> Comparison:
        _, tree = self._read_tree()
        states = resolve_states(tree, before, after)
        if isinstance(states, Comparison):
            return states
        history = self.open_history(tree)
        try:
            new = states[1] if after is not None else history.newest or states[0]
            differences = find_differences(history, states[0], new)
            shown = self.shown_plans.add_if_long(differences)
            note = LAST_SEEN_NOTE if differences.items else _NO_DIFFERENCE_NOTE
            note = note if after is None else ""
            return build_comparison(history, before, after, differences, note=note, shown=shown)
        except KimiTuiError as error:
            return Comparison(before, after, note=str(error))
