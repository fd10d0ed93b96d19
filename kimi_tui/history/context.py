"""The conversation: messages, token count and checkpoints, in memory and in `context.jsonl` alike.

A change goes to disk first and, once it is there, to memory: when the disk refuses it, neither has changed.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.content import system_note
from kimi_tui.base.errors import JournalGone
from kimi_tui.base.identity import new_uid
from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.history.branch import Branch
from kimi_tui.history.conversation import sendable
from kimi_tui.history.deed import deed_of
from kimi_tui.history.disk import LOCAL_DISK, Disk
from kimi_tui.history.finding import Finding
from kimi_tui.history.journal import Journal
from kimi_tui.history.ledger import Body, Ledger
from kimi_tui.history.line import Line
from kimi_tui.history.notation import encode, well_formed, written
from kimi_tui.history.reading import Reading
from kimi_tui.history.rebuilding import rebuilt
from kimi_tui.history.records import Checkpoint, FilesOf, Record, Revert, Usage
from kimi_tui.history.serial import Serial, serially
from kimi_tui.history.steps import pending_records, step_records
from kimi_tui.history.tree import Tree
from kimi_tui.wire.timeline import CheckpointKind, FileChanges, RevertReason


@value
class Reversion:
    """The conversation went elsewhere."""

    branch: int | None
    """The rotation that holds what was left; None when there was nothing."""
    from_id: int
    """The newest checkpoint of what was left; 0 when it had none."""
    to: int
    """The checkpoint gone to; 0, the beginning, for a clear or a compaction."""


class Context:
    """One conversation, kept in `file_backend`, which is made with the first thing that is said.

    At any time between two calls the history can be sent to a provider, apart from calls whose results are
    appended one by one. Every change may raise JournalWriteError, and is carried out to its end even when the
    caller is cancelled meanwhile. A context on a file that holds something must `restore` before it changes.
    """

    def __init__(self, file_backend: Path | str, *, disk: Disk = LOCAL_DISK) -> None:
        self._ledger = Ledger(Journal(Path(file_backend), disk=disk))
        self._line = Line()
        self._serial = Serial()
        self._repairs: tuple[Finding, ...] = ()
        self._is_used = False
        self._reading = Reading(Path(file_backend))
        self.put_back: Callable[[], None] = lambda: None
        """Called when the file, which somebody had deleted or moved, was written anew."""
        self.changed: Callable[[int | None], None] = lambda _: None
        """Called with the number of each checkpoint that is made or changed; with None for another line."""

    @property
    def history(self) -> Sequence[Message]:
        """The messages."""
        return self._line.history

    @property
    def system_prompt(self) -> str | None:
        """The system prompt that the conversation was last run with."""
        return self._line.system_prompt

    @property
    def token_count(self) -> int:
        """The weight of the conversation as a provider last counted it."""
        return self._line.token_count

    @property
    def token_count_with_pending(self) -> int:
        """`token_count`, and an estimate of the messages since."""
        return self._line.token_count_with_pending

    @property
    def n_checkpoints(self) -> int:
        """The id of the next checkpoint: how many there have been in the session's life."""
        return self._line.next_id

    @property
    def checkpoints(self) -> Sequence[Checkpoint]:
        """The checkpoints that can be reverted to, oldest first."""
        return self._line.checkpoints

    @property
    def since_checkpoint(self) -> Sequence[Message]:
        """What was said since the newest checkpoint."""
        return self._line.since_checkpoint

    @property
    def reverts(self) -> Sequence[Revert]:
        """Why the live line began anew, each time, oldest first."""
        return self._line.reverts

    @property
    def marked(self) -> Sequence[tuple[int, Checkpoint]]:
        """The checkpoints with how many messages lie before each, oldest first."""
        return self._line.marked

    def said_after(self, checkpoint_id: int) -> Sequence[Message]:
        """What was said after a checkpoint. Raises ValueError when it is not on the live line."""
        return self._line.history[self._line.mark(checkpoint_id).messages :]

    @property
    def repairs(self) -> Sequence[Finding]:
        """What was found torn, damaged or unfinished; each thing is told once in the session's life."""
        return self._repairs

    @serially
    async def restore(self) -> bool:
        """Read what the file holds and mend it. Whether there was anything.

        Raises RuntimeError when something was said or restored before, SessionError when it can't be read.
        """
        if self._is_used:
            raise RuntimeError("The context is in use; restore a new one")
        if self._ledger.is_empty:
            return False
        self._line, self._repairs = await asyncio.to_thread(self._ledger.restore)
        self._is_used = True
        return True

    @serially
    async def append_message(self, message: Message | Sequence[Message]) -> None:
        """Append messages in one write, fsynced when the user says something.

        Calls and steps that are open are finished first. Raises ValueError for a result that no call awaits.
        """
        messages = self._line.prepared([message] if isinstance(message, Message) else message)
        await self._write(messages, sync=any(said.role == "user" for said in messages))

    @serially
    async def append_step(self, messages: Sequence[Message], *, token_count: int | None) -> None:
        """Append a step in one fsynced write: the model's message, its tools' results, notes that follow.

        `token_count` is what the provider counted for the request and the model's message. A call without a
        result gets the one that was noted, else one that says it was interrupted. Raises ValueError for a
        result that no call awaits.
        """
        await self._write(step_records(self._line, messages, token_count), sync=True)
        if self._line.checkpoints:
            self.changed(self._line.checkpoints[-1].id)

    @serially
    async def note_pending(self, message: Message) -> None:
        """Note a message of the step under way: the model's when it is complete, each result as it finishes.

        Should the process die before `append_step`, a restore makes the step of it. Nothing but the step may
        be appended meanwhile, or the step counts as interrupted. A result replaces the one noted before for
        its call; one that comes too late is ignored.
        """
        if records := pending_records(self._line, message):
            await self._write(records, sync=False)

    @serially
    async def checkpoint(
        self,
        add_user_message: bool,
        *,
        kind: CheckpointKind = "step",
        label: str = "",
        files: str | None = None,
        changes: FileChanges | None = None,
    ) -> Checkpoint:
        """Make the state of now one to come back to; with `add_user_message` the model sees its id.

        `files` is the manifest of the files' state, or why there is none; `changes`, what became of
        them since the checkpoint before.
        """
        before = self._line.unfinished()
        checkpoint = Checkpoint(
            id=self._line.next_id,
            uid=new_uid(),
            parent=self._line.parent,
            time=time.time(),
            kind=kind,
            label=label,
            files=files,
            tokens=self.token_count_with_pending,
            done=deed_of([*self._line.since_checkpoint, *before]),
            changes=changes,
        )
        note = Message("user", (system_note(f"CHECKPOINT {checkpoint.id}"),))
        await self._write([*before, checkpoint, *([note] if add_user_message else [])], sync=True)
        self.changed(checkpoint.id)
        return self._line.checkpoints[-1]

    @serially
    async def note_files(self, checkpoint_id: int, files: str, changes: FileChanges | None) -> None:
        """Note the files' state at a checkpoint that was made before it was known.

        Nothing is noted when the checkpoint is not on the live line any more.
        """
        if self._line.has(checkpoint_id):
            await self._write([FilesOf(id=checkpoint_id, files=files, changes=changes)], sync=False)
            self.changed(checkpoint_id)

    @serially
    async def revert_to(
        self, checkpoint_id: int, *, reason: RevertReason = "user", keep_user_message: bool = False
    ) -> Reversion:
        """Go back to just before a checkpoint; what came after it becomes a branch.

        `keep_user_message` keeps what the user said right after it: a D-Mail can't take back the request.
        Raises ValueError when the checkpoint is not on the live line.
        """
        await self._put_back_what_is_gone()
        offset = self._line.mark(checkpoint_id).offset
        words = await asyncio.to_thread(self._ledger.own_words, offset) if keep_user_message else []
        line = self._line.cut(checkpoint_id)
        late = [encode(record) for record in self._line.late_after(checkpoint_id)]
        body = self._ledger.until(offset)
        return await self._go_to(line, body, words, to=checkpoint_id, reason=reason, repairs=late)

    @serially
    async def restore_from_rotation(
        self, number: int, *, reason: RevertReason = "switch", before: int | None = None
    ) -> Reversion:
        """Go on where a branch ended, or just `before` a checkpoint of it.

        The live line becomes a branch in turn. Raises ValueError when there is no such branch or checkpoint.
        """
        rotation = await asyncio.to_thread(self._ledger.rotation, number)
        line = rotation.line
        if before is not None:
            body = rotation.body.until(line.mark(before).offset)
            late = [encode(record) for record in line.late_after(before)]
            return await self._go_to(line.cut(before), body, to=before, reason=reason, repairs=late)
        last = line.checkpoints[-1].id if line.checkpoints else 0
        reversion = await self._go_to(line, rotation.body, to=last, reason=reason, repairs=rotation.repairs)
        self._repairs = (*self._repairs, *rotation.found)
        return reversion

    @serially
    async def clear(self) -> Reversion:
        """Forget everything but the system prompt; what was said becomes a branch."""
        return await self._begin_anew((), "clear")

    @serially
    async def replace(self, messages: Sequence[Message], *, reason: RevertReason = "compaction") -> Reversion:
        """Put `messages` in the place of the history, which becomes a branch, in one atomic replacement.

        Results without a call are left out, calls without a result are answered.
        """
        return await self._begin_anew(sendable(messages), reason)

    @serially
    async def update_token_count(self, token_count: int) -> None:
        """Note the weight of the history as a provider counted it."""
        await self._write([Usage(token_count)], sync=False)

    @serially
    async def set_system_prompt(self, text: str) -> None:
        """Note the system prompt of this run. It is on disk, as the first line, with the next change."""
        self._require_restored()
        prompt = well_formed(text)
        self._ledger.set_prompt(prompt)
        self._line.system_prompt = prompt

    @serially
    async def branches(self) -> tuple[Branch, ...]:
        """The lines of the conversation that were left, oldest first. Raises SessionError."""
        return await asyncio.to_thread(self._reading.branches, self._line)

    @serially
    async def tree(self) -> Tree:
        """All lines of the conversation, put together. Raises SessionError."""
        return await asyncio.to_thread(self._reading.tree, self._line)

    @serially
    async def read_branch(self, number: int) -> Line:
        """A branch, to look at. Raises ValueError when there is no such branch, SessionError."""
        return (await asyncio.to_thread(self._ledger.rotation, number)).line

    @serially
    async def copy_to(self, path: Path, *, branch: int | None = None, before: int | None = None) -> None:
        """Write the live line or a branch, or what of it lies `before` a checkpoint, to another file.

        Raises ValueError when there is no such branch or checkpoint, JournalWriteError, SessionError.
        """
        await self._put_back_what_is_gone()
        if branch is None:
            line, body = self._line, self._ledger.whole()
        else:
            rotation = await asyncio.to_thread(self._ledger.rotation, branch)
            line, body = rotation.line, rotation.body
        late: list[bytes] = []
        if before is not None:
            body = body.until(line.mark(before).offset)
            late = [encode(record) for record in line.late_after(before)]
        await asyncio.to_thread(self._ledger.copy_to, path, body, late)

    @serially
    async def close(self) -> None:
        """Return when everything that was asked for has been carried out."""

    async def _write(self, records: Sequence[Record], *, sync: bool) -> None:
        """Append `records` in one write and take them into memory."""
        self._require_restored()
        pairs = [written(record) for record in records]
        lines = [data for _, data in pairs]
        try:
            offset = await asyncio.to_thread(self._ledger.append, lines, sync=sync)
        except JournalGone:
            await self._put_back()
            offset = await asyncio.to_thread(self._ledger.append, lines, sync=sync)
        self._is_used = True
        for record, data in pairs:
            self._line.take(record, offset=offset)
            offset += len(data)

    async def _put_back_what_is_gone(self) -> None:
        if await asyncio.to_thread(lambda: self._ledger.is_gone):
            await self._put_back()

    async def _put_back(self) -> None:
        """Write the file anew from memory. Raises JournalWriteError."""
        line, lines = await asyncio.to_thread(rebuilt, self._line)
        await asyncio.to_thread(self._ledger.put_back, line.system_prompt, lines)
        self._line = line
        self._reading.forget()
        self.changed(None)
        self.put_back()

    async def _begin_anew(self, messages: Sequence[Message], reason: RevertReason) -> Reversion:
        await self._put_back_what_is_gone()
        if self._ledger.is_empty and not messages:
            return Reversion(branch=None, from_id=0, to=0)
        line = Line()
        line.parent = self._line.parent
        words = [written(message) for message in messages]
        return await self._go_to(line, self._ledger.until(0), words, to=0, reason=reason)

    async def _go_to(
        self,
        line: Line,
        body: Body,
        words: Sequence[tuple[Record, bytes]] = (),
        *,
        to: int,
        reason: RevertReason,
        repairs: Sequence[bytes] = (),
    ) -> Reversion:
        """Replace the live line by `line`, which `body` and `repairs` hold, and go on with `words`."""
        self._require_restored()

        def revert(branch: int | None) -> Revert:
            return Revert(to=to, next_id=self._line.next_id, branch=branch, reason=reason, parent=line.parent)

        def then(branch: int | None) -> list[bytes]:
            return [*repairs, encode(revert(branch)), *(data for _, data in words)]

        branch = await asyncio.to_thread(self._ledger.begin_anew, body, then)
        self._is_used = True
        line.system_prompt = self._line.system_prompt
        line.take(revert(branch))
        for record, _ in words:
            line.take(record)
        from_id = self._line.checkpoints[-1].id if self._line.checkpoints else 0
        self._line = line
        self.changed(None)
        return Reversion(branch=branch, from_id=from_id, to=to)

    def _require_restored(self) -> None:
        if not self._is_used and not self._ledger.is_empty:
            raise RuntimeError("The file holds a conversation: restore it first")
