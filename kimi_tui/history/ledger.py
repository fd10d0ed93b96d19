"""A ledger: a journal whose first line is the system prompt, read with its damage mended.

Its methods block, like the journal's. Offsets are bytes after the system prompt's line, so that they stay
right when another prompt takes its place.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from kimi_tui.base.errors import JournalWriteError
from kimi_tui.history.disk import part_of
from kimi_tui.history.finding import Finding
from kimi_tui.history.journal import Journal
from kimi_tui.history.line import Line
from kimi_tui.history.loading import Loaded, ids_used, load
from kimi_tui.history.notation import encode
from kimi_tui.history.records import Repair, SystemPrompt
from kimi_tui.history.stretch import Body, Stretch

_LOSSES = {"torn_line", "damaged_line"}


class Ledger:
    """The file of one conversation."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._head = 0
        """How long the system prompt's line is."""
        self._prompt: str | None = None
        self._prompt_is_due = False
        self._owed = b""
        """Lines of a repair that the disk did not take; they go before the next ones."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing on disk."""
        return self._journal.size == 0

    def restore(self) -> tuple[Line, tuple[Finding, ...]]:
        """Read the file and mend it: the line it holds, and what was not as it should be.

        A line that was cut off is moved away. Open calls and an interrupted step are finished, in one write
        together with a `_repair` record. A disk that takes no writes gets all that before the next one.
        Raises SessionError.
        """
        self._journal.tidy()
        loaded = load(self._journal.path)
        if loaded.torn is not None:
            self._journal.set_aside(loaded.torn)
        self._journal.look()
        self._head = loaded.head
        self._prompt = loaded.line.system_prompt
        repairs, found = _mended(loaded, self._journal)
        try:
            if repairs:
                self._journal.append(b"".join(repairs), sync=True)
        except JournalWriteError:
            self._owed = b"".join(repairs)
        return loaded.line, found

    @property
    def is_gone(self) -> bool:
        """Whether there was a file, and is none any more."""
        return self._journal.is_gone

    def set_prompt(self, text: str) -> None:
        """Have the next write put `text` at the head of the file, where another prompt stands."""
        self._prompt_is_due = self._prompt_is_due or text != self._prompt
        self._prompt = text

    def append(self, lines: Sequence[bytes], *, sync: bool) -> int:
        """Append `lines` in one write; return the offset of the first. Raises JournalWriteError."""
        lead = self._owed
        head = self._head
        if self._prompt_is_due and self.is_empty:
            lead = self._new_head() + lead
            head = len(self._new_head())
        elif self._prompt_is_due:
            self._journal.rewrite(chain([self._new_head()], self._journal.lines_from(self._head)))
            self._head = head = len(self._new_head())
            self._prompt_is_due = False
        start = self._journal.append(lead + b"".join(lines), sync=sync)
        self._owed = b""
        self._head = head
        self._prompt_is_due = False
        return start + len(lead) - head

    def whole(self) -> Body:
        """All of the file's lines."""
        return Body(self._journal.path, self._head, self._journal.end)

    def copy_to(self, path: Path, stretch: Stretch) -> None:
        """Write the system prompt and `stretch` to another file. Raises JournalWriteError."""
        Journal(path).rewrite(chain([self._kept_head()], stretch.body.chunks(), stretch.repairs))

    def rotation(self, number: int) -> Stretch:
        """What a rotation holds. Raises ValueError when there is none of that number, SessionError."""
        path = self._journal.rotations().get(number)
        if path is None:
            raise ValueError(f"Branch {number} does not exist")
        loaded = load(path)
        body = Body(path, loaded.head, loaded.end, loaded.ends_in_newline)
        return Stretch(loaded.line, body, *_mended(loaded, self._journal))

    def begin_anew(self, body: Body, then: Callable[[int | None], Sequence[bytes]]) -> int | None:
        """Replace the file by the system prompt, `body`, and the lines of `then(branch)`.

        The file as it was becomes that branch; None when there was none. Returns the branch.
        Raises JournalWriteError.
        """
        head = self._kept_head()
        branch: int | None = None
        if self.is_empty:
            self._journal.rewrite(chain([head], body.chunks(), then(None)))
        else:
            branch = self._journal.rotate(lambda number: chain([head], body.chunks(), then(number)))
        self._head = len(head)
        self._prompt_is_due = False
        self._owed = b""  # whoever reads the branch mends it in the same way
        return branch

    def put_back(self, prompt: str | None, lines: Iterable[bytes]) -> None:
        """Write the file anew, which was deleted or moved. Raises JournalWriteError."""
        head = encode(SystemPrompt(prompt)) if prompt is not None else b""
        self._journal.put_back(chain([head], lines))
        self._head = len(head)
        self._prompt = prompt
        self._prompt_is_due = False
        self._owed = b""

    def _new_head(self) -> bytes:
        return encode(SystemPrompt(self._prompt)) if self._prompt is not None else b""

    def _kept_head(self) -> bytes:
        if self._prompt_is_due or self._head == 0:
            return self._new_head()
        return b"".join(part_of(self._journal.path, 0, self._head))


def _mended(loaded: Loaded, journal: Journal) -> tuple[list[bytes], tuple[Finding, ...]]:
    """Finish what is open in memory; the lines that do so on disk, and what there was to find."""
    line = loaded.line
    lines = [encode(message) for message in line.unfinished()]
    line.settle()
    found = line.findings
    if not found:
        return [], ()
    if any(item.kind in _LOSSES for item in found):
        line.next_id = max(line.next_id, ids_used(journal))
    return [*lines, encode(Repair(found=found, next_id=line.next_id, time=time.time()))], found
