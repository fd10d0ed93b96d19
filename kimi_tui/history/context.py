"""Conversation of a session: its messages, token count, checkpoints and branches."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.content_parts import system_note
from kimi_tui.base.ids import new_uid
from kimi_tui.base.message import Message
from kimi_tui.history.branch import Branch
from kimi_tui.history.checkpoint_tree import CheckpointTree
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.conversation_store import ConversationStore, RevertResult
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, FileSystem
from kimi_tui.history.message_history import complete_tool_results
from kimi_tui.history.read_only import ReadOnlyConversation
from kimi_tui.history.records import Checkpoint, FileStateRecord, RevertRecord, UsageRecord
from kimi_tui.history.repair_report import RepairFinding
from kimi_tui.history.serial_queue import SerialQueue, run_serially
from kimi_tui.history.step_records import pending_records, step_records
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.wire.timeline import CheckpointKind, FileChanges, RevertReason


class Context:
    """One conversation, stored in `file_backend`. The file is created with the first message.

    Between two method calls, the history is ready to send to a provider, unless tool results are being
    appended one by one. Every change may raise JournalWriteError. If the caller is canceled, the change is
    completed first. If the file already has content, call `restore` before the first change.
    """

    def __init__(self, file_backend: Path | str, *, fs: FileSystem = LOCAL_FILE_SYSTEM) -> None:
        self._store = ConversationStore(Path(file_backend), fs=fs, observer=self)
        self._serial_queue = SerialQueue()
        self._repairs: tuple[RepairFinding, ...] = ()
        self._reader = ReadOnlyConversation(Path(file_backend))
        self.on_file_rewritten: Callable[[], None] = lambda: None
        """Called after the file was recreated because another program had deleted or moved it."""
        self.on_change: Callable[[int | None], None] = lambda _: None
        """Called with the id of each new or changed checkpoint; with None after a switch of branches."""

    @property
    def history(self) -> Sequence[Message]:
        """The messages."""
        return self._store.state.history

    @property
    def system_prompt(self) -> str | None:
        """The system prompt that the conversation last ran with."""
        return self._store.state.system_prompt

    @property
    def token_count(self) -> int:
        """Size of the conversation in tokens, as a provider last counted it."""
        return self._store.state.token_count

    @property
    def token_count_with_pending(self) -> int:
        """`token_count` plus an estimate for the messages that it doesn't cover."""
        return self._store.state.token_count_with_pending

    @property
    def n_checkpoints(self) -> int:
        """Number of checkpoints created in the session's life. This is also the next checkpoint's id."""
        return self._store.state.next_id

    @property
    def checkpoints(self) -> Sequence[Checkpoint]:
        """The checkpoints that can be reverted to, oldest first."""
        return self._store.state.checkpoints

    @property
    def messages_since_checkpoint(self) -> Sequence[Message]:
        """The messages since the newest checkpoint."""
        return self._store.state.messages_since_checkpoint

    @property
    def reverts(self) -> Sequence[RevertRecord]:
        """The revert records of the current branch, oldest first."""
        return self._store.state.reverts

    @property
    def indexed_checkpoints(self) -> Sequence[tuple[int, Checkpoint]]:
        """The checkpoints, each with the number of messages before it, oldest first."""
        return self._store.state.indexed_checkpoints

    def messages_after(self, checkpoint_id: int) -> Sequence[Message]:
        """Return the messages after a checkpoint. Raises ValueError if it isn't on the current branch."""
        return self._store.state.history[self._store.state.position_of(checkpoint_id).messages :]

    @property
    def repairs(self) -> Sequence[RepairFinding]:
        """Torn, damaged or unfinished records found by `restore`, each reported once per session."""
        return self._repairs

    @run_serially
    async def restore(self) -> bool:
        """Read and repair the file. Return False if it was empty.

        Raises RuntimeError if the context was already changed or restored, SessionError if the file can't be
        read.
        """
        findings = await self._store.restore()
        self._repairs = findings or ()
        return findings is not None

    @run_serially
    async def append_message(self, message: Message | Sequence[Message]) -> None:
        """Append messages in one write, synced if one of them is from the user.

        Unfinished calls and steps are completed first. Raises ValueError for a result that no call awaits.
        """
        messages = self._store.state.prepare_messages([message] if isinstance(message, Message) else message)
        await self._store.write(messages, sync=any(each.role == "user" for each in messages))

    @run_serially
    async def append_step(
        self,
        messages: Sequence[Message],
        *,
        token_count: int | None,
        model: str = "",
        cost_usd: float | None = None,
    ) -> None:
        """Append a step in one synced write: the model's message, its tool results, and further notes.

        `token_count` is the provider's count for the request and the model's message. `model` and `cost_usd`
        are that message's model and cost. A call without a result gets its pending result, or one that says
        it was interrupted. Raises ValueError for a result that no call awaits.
        """
        usage = UsageRecord(token_count, model, cost_usd) if token_count is not None else None
        await self._store.write(step_records(self._store.state, messages, usage), sync=True)
        if self._store.state.checkpoints:
            self.on_change(self._store.state.checkpoints[-1].id)

    @run_serially
    async def record_pending(self, message: Message) -> None:
        """Record a message of the running step: the complete response, or the result of a finished call.

        If the process dies before `append_step`, a restore completes the step from these records. In between,
        only the step itself may be appended; anything else marks the step as interrupted. A result replaces
        an earlier one for the same call. A result that arrives after its step is ignored.
        """
        if records := pending_records(self._store.state, message):
            await self._store.write(records, sync=False)

    @run_serially
    async def checkpoint(
        self,
        add_user_message: bool,
        *,
        kind: CheckpointKind = "step",
        label: str = "",
        files: str | None = None,
        changes: FileChanges | None = None,
    ) -> Checkpoint:
        """Create a checkpoint of the current state. With `add_user_message`, the model sees its id.

        `files` is the manifest id of the file state, or why it was not captured. `changes` describes the
        file changes since the previous checkpoint.
        """
        closing = self._store.state.closing_messages()
        checkpoint = Checkpoint(
            id=self._store.state.next_id,
            uid=new_uid(),
            parent=self._store.state.parent,
            time=time.time(),
            kind=kind,
            label=label,
            files=files,
            tokens=self.token_count_with_pending,
            done=summarize_step([*self._store.state.messages_since_checkpoint, *closing]),
            changes=changes,
        )
        note = Message("user", (system_note(f"CHECKPOINT {checkpoint.id}"),))
        await self._store.write([*closing, checkpoint, *([note] if add_user_message else [])], sync=True)
        self.on_change(checkpoint.id)
        return self._store.state.checkpoints[-1]

    @run_serially
    async def record_files(self, checkpoint_id: int, files: str, changes: FileChanges | None) -> None:
        """Record the file state of an earlier checkpoint once it is known.

        Does nothing if the checkpoint is no longer on the current branch.
        """
        if self._store.state.has_checkpoint(checkpoint_id):
            await self._store.write(
                [FileStateRecord(id=checkpoint_id, files=files, changes=changes)], sync=False
            )
            self.on_change(checkpoint_id)

    @run_serially
    async def revert_to(
        self, checkpoint_id: int, *, reason: RevertReason = "user", keep_user_message: bool = False
    ) -> RevertResult:
        """Revert to the state just before a checkpoint. Everything after it becomes a branch.

        `keep_user_message` keeps the user's prompt after the checkpoint: a D-Mail can't revert the request
        itself. Raises ValueError if the checkpoint isn't on the current branch.
        """
        current = await self._store.full_segment()
        prompts = (
            await asyncio.to_thread(current.user_messages_after, checkpoint_id) if keep_user_message else []
        )
        return await self._store.switch_to(
            current.before_checkpoint(checkpoint_id), prompts, to=checkpoint_id, reason=reason
        )

    @run_serially
    async def restore_from_rotation(
        self, number: int, *, reason: RevertReason = "switch", before: int | None = None
    ) -> RevertResult:
        """Switch to the end of a branch, or to just `before` one of its checkpoints.

        The conversation that was current until now is kept as another branch. Raises ValueError if the
        branch or checkpoint doesn't exist.
        """
        branch = await self._store.read_branch(number)
        if before is not None:
            return await self._store.switch_to(branch.before_checkpoint(before), to=before, reason=reason)
        last = branch.state.checkpoints[-1].id if branch.state.checkpoints else 0
        result = await self._store.switch_to(branch, to=last, reason=reason)
        self._repairs = (*self._repairs, *branch.findings)
        return result

    @run_serially
    async def clear(self) -> RevertResult:
        """Remove everything but the system prompt. The conversation so far becomes a branch."""
        return await self._store.start_new((), reason="clear")

    @run_serially
    async def replace(
        self, messages: Sequence[Message], *, reason: RevertReason = "compaction"
    ) -> RevertResult:
        """Replace the history with `messages` in one atomic write. The old history becomes a branch.

        Results without a call are dropped. A call without a result gets one that says it was interrupted.
        """
        return await self._store.start_new(complete_tool_results(messages), reason=reason)

    @run_serially
    async def update_token_count(self, token_count: int) -> None:
        """Record the size of the history in tokens, as counted by a provider."""
        await self._store.write([UsageRecord(token_count)], sync=False)

    @run_serially
    async def set_system_prompt(self, text: str) -> None:
        """Set the system prompt of this run. The next change writes it to disk as the first line."""
        self._store.set_prompt(text)

    @run_serially
    async def branches(self) -> tuple[Branch, ...]:
        """Return the other branches of the conversation, oldest first. Raises SessionError."""
        return await asyncio.to_thread(self._reader.branches, self._store.state)

    @run_serially
    async def tree(self) -> CheckpointTree:
        """Return the tree of all branches. Raises SessionError."""
        return await asyncio.to_thread(self._reader.tree, self._store.state)

    @run_serially
    async def read_branch(self, number: int) -> ConversationState:
        """Return the state of a branch, read-only. Raises ValueError for an unknown branch, SessionError."""
        return (await self._store.read_branch(number)).state

    @run_serially
    async def copy_to(self, path: Path, *, branch: int | None = None, before: int | None = None) -> None:
        """Write a branch, or its part `before` a checkpoint, to another file. None is the current branch.

        Raises ValueError if the branch or checkpoint doesn't exist, JournalWriteError, SessionError.
        """
        segment = await (self._store.full_segment() if branch is None else self._store.read_branch(branch))
        await self._store.copy(segment if before is None else segment.before_checkpoint(before), path)

    @run_serially
    async def close(self) -> None:
        """Wait until all running changes are complete."""

    def handle_replaced(self, *, file_rewritten: bool) -> None:
        """Implement `ConversationObserver.handle_replaced`."""
        if file_rewritten:
            self._reader.clear_cache()
            self.on_file_rewritten()
        self.on_change(None)
