"""Write-through store of a conversation: its current branch in memory and the file on disk never differ.

A change is written to disk first. It is applied in memory only if the write succeeds. The file is a journal
whose first line is the system prompt. Offsets are in bytes after that line, so that they stay valid when the
prompt changes.
"""

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol

from kimi_tui.base.errors import JournalGone, JournalWriteError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import Message
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.filesystem import FileSystem, read_range
from kimi_tui.history.journal import Journal
from kimi_tui.history.journal_reader import read_journal
from kimi_tui.history.rebuild import rebuild_journal
from kimi_tui.history.record_codec import encode, encode_sanitized, replace_surrogates
from kimi_tui.history.records import Record, RevertRecord, SystemPrompt
from kimi_tui.history.repair_report import RepairFinding
from kimi_tui.history.segment import ConversationSegment, FileRange
from kimi_tui.wire.timeline import RevertReason


@frozen
class RevertResult:
    """Result of a switch to another state of the conversation."""

    branch: int | None
    """The rotation with the branch that was left; None if that branch was empty."""
    from_id: int
    """Id of the newest checkpoint of that branch; 0 if the branch had no checkpoints."""
    to: int
    """The checkpoint reverted to; 0, the beginning, for a clear or a compaction."""


class ConversationObserver(Protocol):
    """Observer of changes other than appended records."""

    def handle_replaced(self, *, file_rewritten: bool) -> None:
        """Handle a switch to another branch.

        With `file_rewritten`, the branch is the same: its file was recreated after another program had
        deleted or moved it.
        """
        ...


class ConversationStore:
    """The current branch, stored in `file`. Don't run two methods at the same time; don't cancel a method.

    Every change may raise JournalWriteError, and RuntimeError if the file has content that wasn't restored.
    """

    def __init__(self, file: Path, *, fs: FileSystem, observer: ConversationObserver) -> None:
        self._journal = Journal(file, fs=fs)
        self._observer = observer
        self._is_used = False
        self._prompt_size = 0
        """Length of the system prompt's line in bytes."""
        self._is_prompt_dirty = False
        self._pending_repairs = b""
        """Repair lines that couldn't be written yet; the next write puts them first."""
        self.state = ConversationState()

    async def restore(self) -> tuple[RepairFinding, ...] | None:
        """Read and repair the file. Return the findings, or None if the file is empty.

        Raises RuntimeError if the store was already written to or restored, SessionError if the file can't be
        read.
        """
        if self._is_used:
            raise RuntimeError("The context is already in use. Restore a new one.")
        if self._is_empty:
            return None
        self.state, findings = await asyncio.to_thread(self._read_and_repair)
        self._is_used = True
        return findings

    def set_prompt(self, text: str) -> None:
        """Set the system prompt. The next change writes it at the beginning of the file."""
        self._require_restored()
        prompt = replace_surrogates(text)
        self._is_prompt_dirty = self._is_prompt_dirty or prompt != self.state.system_prompt
        self.state.system_prompt = prompt

    async def write(self, records: Sequence[Record], *, sync: bool) -> None:
        """Append `records` in one write and apply them to the state."""
        self._require_restored()
        pairs = [encode_sanitized(record) for record in records]
        lines = [data for _, data in pairs]
        try:
            offset = await asyncio.to_thread(self._append, lines, sync=sync)
        except JournalGone:
            await self._rewrite_file()
            offset = await asyncio.to_thread(self._append, lines, sync=sync)
        self._is_used = True
        for record, data in pairs:
            self.state.apply(record, offset=offset)
            offset += len(data)

    async def full_segment(self) -> ConversationSegment:
        """Return the whole current branch."""
        await self._rewrite_if_missing()
        return ConversationSegment(
            self.state, FileRange(self._journal.path, self._prompt_size, self._journal.end)
        )

    async def read_branch(self, number: int) -> ConversationSegment:
        """Return another branch. Raises ValueError if it doesn't exist, SessionError."""
        await self._rewrite_if_missing()
        return await asyncio.to_thread(self._read_rotation, number)

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

        branch = await asyncio.to_thread(self._replace_content, target.file_range, build_tail)
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
        if self._is_empty and not messages:
            return RevertResult(branch=None, from_id=0, to=0)
        state = ConversationState()
        state.parent = self.state.parent
        empty = ConversationSegment(state, current.file_range.truncated_at(0))
        return await self.switch_to(
            empty, [encode_sanitized(message) for message in messages], to=0, reason=reason
        )

    async def copy(self, segment: ConversationSegment, path: Path) -> None:
        """Write a segment of this conversation to another file, after the system prompt."""
        await asyncio.to_thread(self._copy, segment, path)

    @property
    def _is_empty(self) -> bool:
        return self._journal.size == 0

    def _require_restored(self) -> None:
        if not self._is_used and not self._is_empty:
            raise RuntimeError("The file contains a conversation. Restore it first.")

    async def _rewrite_if_missing(self) -> None:
        if await asyncio.to_thread(lambda: self._journal.is_gone):
            await self._rewrite_file()

    async def _rewrite_file(self) -> None:
        """Rewrite the file from memory after it was deleted or moved."""
        self.state = await asyncio.to_thread(self._recreate)
        self._observer.handle_replaced(file_rewritten=True)

    # The methods below block.

    def _read_and_repair(self) -> tuple[ConversationState, tuple[RepairFinding, ...]]:
        """Read and repair the file. Return its state and the findings.

        A truncated last line is moved away. Unanswered calls and an interrupted step are completed, in one
        write together with a `_repair` record. If that write fails, the next one includes it. Raises
        SessionError.
        """
        self._journal.remove_leftovers()
        loaded = read_journal(self._journal.path)
        if loaded.torn_line is not None:
            self._journal.move_torn_line(loaded.torn_line)
        self._journal.resync()
        self._prompt_size = loaded.prompt_size
        repairs, findings = loaded.repair(self._journal)
        try:
            if repairs:
                self._journal.append(b"".join(repairs), sync=True)
        except JournalWriteError:
            self._pending_repairs = b"".join(repairs)
        return loaded.state, findings

    def _read_rotation(self, number: int) -> ConversationSegment:
        path = self._journal.rotations().get(number)
        if path is None:
            raise ValueError(f"Branch {number} doesn't exist")
        loaded = read_journal(path)
        file_range = FileRange(path, loaded.prompt_size, loaded.end, loaded.ends_in_newline)
        return ConversationSegment(loaded.state, file_range, *loaded.repair(self._journal))

    def _append(self, lines: Sequence[bytes], *, sync: bool) -> int:
        """Append `lines` in one write; return the offset of the first one. Raises JournalWriteError."""
        prefix, prompt_size = self._pending_repairs, self._prompt_size
        if self._is_prompt_dirty:
            prompt_line = self._encode_prompt()
            prompt_size = len(prompt_line)
            if self._is_empty:
                prefix = prompt_line + prefix
            else:
                self._journal.rewrite(chain([prompt_line], self._journal.lines_from(self._prompt_size)))
                self._prompt_size, self._is_prompt_dirty = prompt_size, False
        start = self._journal.append(prefix + b"".join(lines), sync=sync)
        self._handle_written(prompt_size)
        return start + len(prefix) - prompt_size

    def _replace_content(
        self, file_range: FileRange, build_tail: Callable[[int | None], Sequence[bytes]]
    ) -> int | None:
        """Replace the content with the system prompt, `file_range`, and the lines of `build_tail(branch)`.

        The old content becomes a branch. Return its number; None if the file was empty. Raises
        JournalWriteError.
        """
        prompt_line = self._current_prompt_line()
        branch: int | None = None
        if self._is_empty:
            self._journal.rewrite(chain([prompt_line], file_range.chunks(), build_tail(None)))
        else:
            branch = self._journal.rotate(
                lambda number: chain([prompt_line], file_range.chunks(), build_tail(number))
            )
        self._handle_written(len(prompt_line))  # reading the branch repairs it in the same way
        return branch

    def _recreate(self) -> ConversationState:
        """Create the file again. Return the state with its new offsets. Raises JournalWriteError."""
        state, lines = rebuild_journal(self.state)
        prompt_line = self._encode_prompt()
        self._journal.recreate(chain([prompt_line], lines))
        self._handle_written(len(prompt_line))
        return state

    def _copy(self, segment: ConversationSegment, path: Path) -> None:
        prompt_line = self._current_prompt_line()
        Journal(path).rewrite(chain([prompt_line], segment.file_range.chunks(), segment.repairs))

    def _handle_written(self, prompt_size: int) -> None:
        """Record that the file has the current prompt and all pending repairs."""
        self._prompt_size = prompt_size
        self._is_prompt_dirty = False
        self._pending_repairs = b""

    def _encode_prompt(self) -> bytes:
        prompt = self.state.system_prompt
        return encode(SystemPrompt(prompt)) if prompt is not None else b""

    def _current_prompt_line(self) -> bytes:
        if self._is_prompt_dirty or self._prompt_size == 0:
            return self._encode_prompt()
        return b"".join(read_range(self._journal.path, 0, self._prompt_size))
