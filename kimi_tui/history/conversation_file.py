"""Conversation file: a journal whose first line is the system prompt, repaired when it is read.

The methods block, like the journal's. Offsets are bytes after the system prompt's line, so that they stay
valid when the prompt changes.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from kimi_tui.base.errors import JournalWriteError
from kimi_tui.history.conversation_state import ConversationState
from kimi_tui.history.filesystem import read_range
from kimi_tui.history.journal import Journal
from kimi_tui.history.journal_reader import LoadedJournal, next_unused_id, read_journal
from kimi_tui.history.record_codec import encode
from kimi_tui.history.records import RepairRecord, SystemPrompt
from kimi_tui.history.repair_report import RepairFinding
from kimi_tui.history.segment import ConversationSegment, FileRange

_LOSS_KINDS = {"torn_line", "damaged_line"}


class ConversationFile:
    """The file of one conversation."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._prompt_size = 0
        """Length of the system prompt's line in bytes."""
        self._prompt: str | None = None
        self._is_prompt_dirty = False
        self._pending_repairs = b""
        """Repair lines that couldn't be written yet; the next write puts them first."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is on disk."""
        return self._journal.size == 0

    def restore(self) -> tuple[ConversationState, tuple[RepairFinding, ...]]:
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
        self._prompt = loaded.state.system_prompt
        repairs, findings = _repair_loaded(loaded, self._journal)
        try:
            if repairs:
                self._journal.append(b"".join(repairs), sync=True)
        except JournalWriteError:
            self._pending_repairs = b"".join(repairs)
        return loaded.state, findings

    @property
    def is_gone(self) -> bool:
        """Whether the file existed and was then deleted or moved."""
        return self._journal.is_gone

    def set_prompt(self, text: str) -> None:
        """Set the system prompt. The next write puts it at the beginning of the file."""
        self._is_prompt_dirty = self._is_prompt_dirty or text != self._prompt
        self._prompt = text

    def append(self, lines: Sequence[bytes], *, sync: bool) -> int:
        """Append `lines` in one write; return the offset of the first one. Raises JournalWriteError."""
        prefix = self._pending_repairs
        prompt_size = self._prompt_size
        if self._is_prompt_dirty and self.is_empty:
            prefix = self._encode_prompt() + prefix
            prompt_size = len(self._encode_prompt())
        elif self._is_prompt_dirty:
            self._journal.rewrite(chain([self._encode_prompt()], self._journal.lines_from(self._prompt_size)))
            self._prompt_size = prompt_size = len(self._encode_prompt())
            self._is_prompt_dirty = False
        start = self._journal.append(prefix + b"".join(lines), sync=sync)
        self._pending_repairs = b""
        self._prompt_size = prompt_size
        self._is_prompt_dirty = False
        return start + len(prefix) - prompt_size

    def full_range(self) -> FileRange:
        """Return the range of all lines after the system prompt."""
        return FileRange(self._journal.path, self._prompt_size, self._journal.end)

    def copy_to(self, path: Path, segment: ConversationSegment) -> None:
        """Write the system prompt and `segment` to another file. Raises JournalWriteError."""
        Journal(path).rewrite(
            chain([self._current_prompt_line()], segment.file_range.chunks(), segment.repairs)
        )

    def read_rotation(self, number: int) -> ConversationSegment:
        """Return the content of a rotation. Raises ValueError if it doesn't exist, SessionError."""
        path = self._journal.rotations().get(number)
        if path is None:
            raise ValueError(f"Branch {number} doesn't exist")
        loaded = read_journal(path)
        file_range = FileRange(path, loaded.prompt_size, loaded.end, loaded.ends_in_newline)
        return ConversationSegment(loaded.state, file_range, *_repair_loaded(loaded, self._journal))

    def replace_content(
        self, file_range: FileRange, build_tail: Callable[[int | None], Sequence[bytes]]
    ) -> int | None:
        """Replace the content with the system prompt, `file_range`, and the lines of `build_tail(branch)`.

        The old content becomes branch `branch`, the return value; None if the file was empty. Raises
        JournalWriteError.
        """
        prompt_line = self._current_prompt_line()
        branch: int | None = None
        if self.is_empty:
            self._journal.rewrite(chain([prompt_line], file_range.chunks(), build_tail(None)))
        else:
            branch = self._journal.rotate(
                lambda number: chain([prompt_line], file_range.chunks(), build_tail(number))
            )
        self._prompt_size = len(prompt_line)
        self._is_prompt_dirty = False
        self._pending_repairs = b""  # reading the branch repairs it in the same way
        return branch

    def recreate(self, prompt: str | None, lines: Iterable[bytes]) -> None:
        """Create the file again after it was deleted or moved. Raises JournalWriteError."""
        prompt_line = encode(SystemPrompt(prompt)) if prompt is not None else b""
        self._journal.recreate(chain([prompt_line], lines))
        self._prompt_size = len(prompt_line)
        self._prompt = prompt
        self._is_prompt_dirty = False
        self._pending_repairs = b""

    def _encode_prompt(self) -> bytes:
        return encode(SystemPrompt(self._prompt)) if self._prompt is not None else b""

    def _current_prompt_line(self) -> bytes:
        if self._is_prompt_dirty or self._prompt_size == 0:
            return self._encode_prompt()
        return b"".join(read_range(self._journal.path, 0, self._prompt_size))


def _repair_loaded(loaded: LoadedJournal, journal: Journal) -> tuple[list[bytes], tuple[RepairFinding, ...]]:
    """Complete unfinished calls and steps in memory. Return lines that do so on disk, and the findings."""
    state = loaded.state
    lines = [encode(message) for message in state.closing_messages()]
    state.close_open_step()
    findings = state.findings
    if not findings:
        return [], ()
    if any(finding.kind in _LOSS_KINDS for finding in findings):
        state.next_id = max(state.next_id, next_unused_id(journal))
    return [*lines, encode(RepairRecord(found=findings, next_id=state.next_id, time=time.time()))], findings
