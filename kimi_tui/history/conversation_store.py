"""Write-through store of a conversation: its current branch in memory and the file on disk never differ.

A change is written to disk first and applied in memory only after that succeeded. If the write fails, neither
changes.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from kimi_tui.base.errors import JournalGone
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.history.conversation_file import ConversationFile
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.filesystem import FileSystem
from kimi_tui.history.journal import Journal
from kimi_tui.history.rebuild import rebuild_journal
from kimi_tui.history.record_codec import encode, encode_sanitized, replace_surrogates
from kimi_tui.history.records import Record, RevertRecord
from kimi_tui.history.repair_report import RepairFinding
from kimi_tui.history.segment import ConversationSegment
from kimi_tui.wire.timeline import RevertReason


@frozen
class RevertResult:
    """Result of a switch to another state of the conversation."""

    branch: int | None
    """The rotation that holds the branch that was left; None if there was nothing to keep."""
    from_id: int
    """The newest checkpoint of the branch that was left; 0 if it had none."""
    to: int
    """The checkpoint reverted to; 0, the beginning, for a clear or a compaction."""


class ConversationObserver(Protocol):
    """Is notified of changes that are more than new records."""

    def handle_replaced(self, *, file_rewritten: bool) -> None:
        """Another branch has become current, or the file, which another program had deleted or moved, was
        rewritten.
        """
        ...


class ConversationStore:
    """The current branch, stored in `file`. Callers must not run two methods at the same time or cancel one.

    Every change may raise JournalWriteError, and RuntimeError if the file has content that wasn't restored.
    """

    def __init__(self, file: Path, *, fs: FileSystem, observer: ConversationObserver) -> None:
        self._file = ConversationFile(Journal(file, fs=fs))
        self._observer = observer
        self._is_used = False
        self.state = ConversationState()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is on disk."""
        return self._file.is_empty

    async def restore(self) -> tuple[RepairFinding, ...] | None:
        """Read and repair the file. Return the findings, or None if the file is empty.

        Raises RuntimeError if the store was already written to or restored, SessionError if the file can't be
        read.
        """
        if self._is_used:
            raise RuntimeError("The context is already in use. Restore a new one.")
        if self.is_empty:
            return None
        self.state, findings = await asyncio.to_thread(self._file.restore)
        self._is_used = True
        return findings

    def set_prompt(self, text: str) -> None:
        """Set the system prompt. It is written to disk with the next change."""
        self._require_restored()
        prompt = replace_surrogates(text)
        self._file.set_prompt(prompt)
        self.state.system_prompt = prompt

    async def write(self, records: Sequence[Record], *, sync: bool) -> None:
        """Append `records` in one write and apply them to the state."""
        self._require_restored()
        pairs = [encode_sanitized(record) for record in records]
        lines = [data for _, data in pairs]
        try:
            offset = await asyncio.to_thread(self._file.append, lines, sync=sync)
        except JournalGone:
            await self._rewrite_file()
            offset = await asyncio.to_thread(self._file.append, lines, sync=sync)
        self._is_used = True
        for record, data in pairs:
            self.state.apply(record, offset=offset)
            offset += len(data)

    async def full_segment(self) -> ConversationSegment:
        """Return the whole current branch."""
        await self._rewrite_if_missing()
        return ConversationSegment(self.state, self._file.full_range())

    async def read_branch(self, number: int) -> ConversationSegment:
        """Return another branch. Raises ValueError if it doesn't exist, SessionError."""
        await self._rewrite_if_missing()
        return await asyncio.to_thread(self._file.read_rotation, number)

    async def switch_to(
        self,
        target: ConversationSegment,
        appended: Sequence[tuple[Record, bytes]] = (),
        *,
        to: int,
        reason: RevertReason,
    ) -> RevertResult:
        """Continue with `target`, followed by `appended`. The current branch is kept as a rotation."""
        self._require_restored()
        state = target.state

        def revert_record(branch: int | None) -> RevertRecord:
            return RevertRecord(
                to=to, next_id=self.state.next_id, branch=branch, reason=reason, parent=state.parent
            )

        def build_tail(branch: int | None) -> list[bytes]:
            return [*target.repairs, encode(revert_record(branch)), *(data for _, data in appended)]

        branch = await asyncio.to_thread(self._file.replace_content, target.file_range, build_tail)
        self._is_used = True
        state.system_prompt = self.state.system_prompt
        state.apply(revert_record(branch))
        for record, _ in appended:
            state.apply(record)
        from_id = self.state.checkpoints[-1].id if self.state.checkpoints else 0
        self.state = state
        self._observer.handle_replaced(file_rewritten=False)
        return RevertResult(branch=branch, from_id=from_id, to=to)

    async def start_new(self, messages: Sequence[Message], *, reason: RevertReason) -> RevertResult:
        """Continue with `messages` only."""
        current = await self.full_segment()
        if self.is_empty and not messages:
            return RevertResult(branch=None, from_id=0, to=0)
        state = ConversationState()
        state.parent = self.state.parent
        empty = ConversationSegment(state, current.file_range.truncated_at(0))
        return await self.switch_to(
            empty, [encode_sanitized(message) for message in messages], to=0, reason=reason
        )

    async def copy(self, segment: ConversationSegment, path: Path) -> None:
        """Write a segment of this conversation to another file, after the system prompt."""
        await asyncio.to_thread(self._file.copy_to, path, segment)

    async def _rewrite_if_missing(self) -> None:
        if await asyncio.to_thread(lambda: self._file.is_gone):
            await self._rewrite_file()

    async def _rewrite_file(self) -> None:
        """Rewrite the file from memory."""
        state, lines = await asyncio.to_thread(rebuild_journal, self.state)
        await asyncio.to_thread(self._file.recreate, state.system_prompt, lines)
        self.state = state
        self._observer.handle_replaced(file_rewritten=True)

    def _require_restored(self) -> None:
        if not self._is_used and not self.is_empty:
            raise RuntimeError("The file contains a conversation. Restore it first.")
