"""The conversation: what was said, its token count and checkpoints, and what can be done with them."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.content import system_note
from kimi_tui.base.identity import new_uid
from kimi_tui.base.message import Message
from kimi_tui.history.branch import Branch
from kimi_tui.history.conversation import sendable
from kimi_tui.history.deed import deed_of
from kimi_tui.history.disk import LOCAL_DISK, Disk
from kimi_tui.history.finding import Finding
from kimi_tui.history.kept_line import KeptLine, Reversion
from kimi_tui.history.line import Line
from kimi_tui.history.reading import Reading
from kimi_tui.history.records import Checkpoint, FilesOf, Revert, Usage
from kimi_tui.history.serial import Serial, serially
from kimi_tui.history.steps import pending_records, step_records
from kimi_tui.history.tree import Tree
from kimi_tui.wire.timeline import CheckpointKind, FileChanges, RevertReason


class Context:
    """One conversation, kept in `file_backend`, which is made with the first thing that is said.

    At any time between two calls the history can be sent to a provider, apart from calls whose results are
    appended one by one. Every change may raise JournalWriteError, and is carried out to its end even when the
    caller is cancelled meanwhile. A context on a file that holds something must `restore` before it changes.
    """

    def __init__(self, file_backend: Path | str, *, disk: Disk = LOCAL_DISK) -> None:
        self._kept = KeptLine(
            Path(file_backend),
            disk=disk,
            replaced=lambda: self.changed(None),
            was_put_back=self._was_put_back,
        )
        self._serial = Serial()
        self._repairs: tuple[Finding, ...] = ()
        self._reading = Reading(Path(file_backend))
        self.put_back: Callable[[], None] = lambda: None
        """Called when the file, which somebody had deleted or moved, was written anew."""
        self.changed: Callable[[int | None], None] = lambda _: None
        """Called with the number of each checkpoint that is made or changed; with None for another line."""

    @property
    def history(self) -> Sequence[Message]:
        """The messages."""
        return self._kept.line.history

    @property
    def system_prompt(self) -> str | None:
        """The system prompt that the conversation was last run with."""
        return self._kept.line.system_prompt

    @property
    def token_count(self) -> int:
        """The weight of the conversation as a provider last counted it."""
        return self._kept.line.token_count

    @property
    def token_count_with_pending(self) -> int:
        """`token_count`, and an estimate of the messages since."""
        return self._kept.line.token_count_with_pending

    @property
    def n_checkpoints(self) -> int:
        """The id of the next checkpoint: how many there have been in the session's life."""
        return self._kept.line.next_id

    @property
    def checkpoints(self) -> Sequence[Checkpoint]:
        """The checkpoints that can be reverted to, oldest first."""
        return self._kept.line.checkpoints

    @property
    def since_checkpoint(self) -> Sequence[Message]:
        """What was said since the newest checkpoint."""
        return self._kept.line.since_checkpoint

    @property
    def reverts(self) -> Sequence[Revert]:
        """Why the live line began anew, each time, oldest first."""
        return self._kept.line.reverts

    @property
    def marked(self) -> Sequence[tuple[int, Checkpoint]]:
        """The checkpoints with how many messages lie before each, oldest first."""
        return self._kept.line.marked

    def said_after(self, checkpoint_id: int) -> Sequence[Message]:
        """What was said after a checkpoint. Raises ValueError when it is not on the live line."""
        return self._kept.line.history[self._kept.line.mark(checkpoint_id).messages :]

    @property
    def repairs(self) -> Sequence[Finding]:
        """What was found torn, damaged or unfinished; each thing is told once in the session's life."""
        return self._repairs

    @serially
    async def restore(self) -> bool:
        """Read what the file holds and mend it. Whether there was anything.

        Raises RuntimeError when something was said or restored before, SessionError when it can't be read.
        """
        found = await self._kept.restore()
        self._repairs = found or ()
        return found is not None

    @serially
    async def append_message(self, message: Message | Sequence[Message]) -> None:
        """Append messages in one write, fsynced when the user says something.

        Calls and steps that are open are finished first. Raises ValueError for a result that no call awaits.
        """
        messages = self._kept.line.prepared([message] if isinstance(message, Message) else message)
        await self._kept.write(messages, sync=any(said.role == "user" for said in messages))

    @serially
    async def append_step(self, messages: Sequence[Message], *, token_count: int | None) -> None:
        """Append a step in one fsynced write: the model's message, its tools' results, notes that follow.

        `token_count` is what the provider counted for the request and the model's message. A call without a
        result gets the one that was noted, else one that says it was interrupted. Raises ValueError for a
        result that no call awaits.
        """
        await self._kept.write(step_records(self._kept.line, messages, token_count), sync=True)
        if self._kept.line.checkpoints:
            self.changed(self._kept.line.checkpoints[-1].id)

    @serially
    async def note_pending(self, message: Message) -> None:
        """Note a message of the step under way: the model's when it is complete, each result as it finishes.

        Should the process die before `append_step`, a restore makes the step of it. Nothing but the step may
        be appended meanwhile, or the step counts as interrupted. A result replaces the one noted before for
        its call; one that comes too late is ignored.
        """
        if records := pending_records(self._kept.line, message):
            await self._kept.write(records, sync=False)

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
        before = self._kept.line.unfinished()
        checkpoint = Checkpoint(
            id=self._kept.line.next_id,
            uid=new_uid(),
            parent=self._kept.line.parent,
            time=time.time(),
            kind=kind,
            label=label,
            files=files,
            tokens=self.token_count_with_pending,
            done=deed_of([*self._kept.line.since_checkpoint, *before]),
            changes=changes,
        )
        note = Message("user", (system_note(f"CHECKPOINT {checkpoint.id}"),))
        await self._kept.write([*before, checkpoint, *([note] if add_user_message else [])], sync=True)
        self.changed(checkpoint.id)
        return self._kept.line.checkpoints[-1]

    @serially
    async def note_files(self, checkpoint_id: int, files: str, changes: FileChanges | None) -> None:
        """Note the files' state at a checkpoint that was made before it was known.

        Nothing is noted when the checkpoint is not on the live line any more.
        """
        if self._kept.line.has(checkpoint_id):
            await self._kept.write([FilesOf(id=checkpoint_id, files=files, changes=changes)], sync=False)
            self.changed(checkpoint_id)

    @serially
    async def revert_to(
        self, checkpoint_id: int, *, reason: RevertReason = "user", keep_user_message: bool = False
    ) -> Reversion:
        """Go back to just before a checkpoint; what came after it becomes a branch.

        `keep_user_message` keeps what the user said right after it: a D-Mail can't take back the request.
        Raises ValueError when the checkpoint is not on the live line.
        """
        live = await self._kept.whole()
        words = await asyncio.to_thread(live.own_words, checkpoint_id) if keep_user_message else []
        return await self._kept.go_to(live.before(checkpoint_id), words, to=checkpoint_id, reason=reason)

    @serially
    async def restore_from_rotation(
        self, number: int, *, reason: RevertReason = "switch", before: int | None = None
    ) -> Reversion:
        """Go on where a branch ended, or just `before` a checkpoint of it.

        The live line becomes a branch in turn. Raises ValueError when there is no such branch or checkpoint.
        """
        branch = await self._kept.branch(number)
        if before is not None:
            return await self._kept.go_to(branch.before(before), to=before, reason=reason)
        last = branch.line.checkpoints[-1].id if branch.line.checkpoints else 0
        reversion = await self._kept.go_to(branch, to=last, reason=reason)
        self._repairs = (*self._repairs, *branch.found)
        return reversion

    @serially
    async def clear(self) -> Reversion:
        """Forget everything but the system prompt; what was said becomes a branch."""
        return await self._kept.begin_anew((), reason="clear")

    @serially
    async def replace(self, messages: Sequence[Message], *, reason: RevertReason = "compaction") -> Reversion:
        """Put `messages` in the place of the history, which becomes a branch, in one atomic replacement.

        Results without a call are left out, calls without a result are answered.
        """
        return await self._kept.begin_anew(sendable(messages), reason=reason)

    @serially
    async def update_token_count(self, token_count: int) -> None:
        """Note the weight of the history as a provider counted it."""
        await self._kept.write([Usage(token_count)], sync=False)

    @serially
    async def set_system_prompt(self, text: str) -> None:
        """Note the system prompt of this run. It is on disk, as the first line, with the next change."""
        self._kept.set_prompt(text)

    @serially
    async def branches(self) -> tuple[Branch, ...]:
        """The lines of the conversation that were left, oldest first. Raises SessionError."""
        return await asyncio.to_thread(self._reading.branches, self._kept.line)

    @serially
    async def tree(self) -> Tree:
        """All lines of the conversation, put together. Raises SessionError."""
        return await asyncio.to_thread(self._reading.tree, self._kept.line)

    @serially
    async def read_branch(self, number: int) -> Line:
        """A branch, to look at. Raises ValueError when there is no such branch, SessionError."""
        return (await self._kept.branch(number)).line

    @serially
    async def copy_to(self, path: Path, *, branch: int | None = None, before: int | None = None) -> None:
        """Write the live line or a branch, or what of it lies `before` a checkpoint, to another file.

        Raises ValueError when there is no such branch or checkpoint, JournalWriteError, SessionError.
        """
        stretch = await (self._kept.whole() if branch is None else self._kept.branch(branch))
        await self._kept.copy(stretch if before is None else stretch.before(before), path)

    @serially
    async def close(self) -> None:
        """Return when everything that was asked for has been carried out."""

    def _was_put_back(self) -> None:
        self._reading.forget()
        self.put_back()
