"""A kept line: the live line of the conversation in memory and its ledger on disk, which never differ.

A change goes to disk first and, once it is there, to memory: when the disk refuses it, neither has changed.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.errors import JournalGone
from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.history.disk import Disk
from kimi_tui.history.finding import Finding
from kimi_tui.history.journal import Journal
from kimi_tui.history.ledger import Ledger
from kimi_tui.history.line import Line
from kimi_tui.history.notation import encode, well_formed, written
from kimi_tui.history.rebuilding import rebuilt
from kimi_tui.history.records import Record, Revert
from kimi_tui.history.stretch import Stretch
from kimi_tui.wire.timeline import RevertReason


@value
class Reversion:
    """The conversation went elsewhere."""

    branch: int | None
    """The rotation that holds what was left; None when there was nothing."""
    from_id: int
    """The newest checkpoint of what was left; 0 when it had none."""
    to: int
    """The checkpoint gone to; 0, the beginning, for a clear or a compaction."""


class KeptLine:
    """The line that `file` holds. One of its methods at a time, each to its end.

    Every change may raise JournalWriteError, and RuntimeError when the file holds something that was not
    restored. `replaced` is called when another line has taken its place, or the same one written anew;
    `was_put_back` before it, when the file had been deleted or moved by somebody else.
    """

    def __init__(
        self, file: Path, *, disk: Disk, replaced: Callable[[], None], was_put_back: Callable[[], None]
    ) -> None:
        self._ledger = Ledger(Journal(file, disk=disk))
        self._replaced = replaced
        self._was_put_back = was_put_back
        self._is_used = False
        self.line = Line()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing on disk."""
        return self._ledger.is_empty

    async def restore(self) -> tuple[Finding, ...] | None:
        """Read what the file holds and mend it; what there was to mend. None when the file holds nothing.

        Raises RuntimeError when something was written or restored before, SessionError when it can't be read.
        """
        if self._is_used:
            raise RuntimeError("The context is in use; restore a new one")
        if self.is_empty:
            return None
        self.line, found = await asyncio.to_thread(self._ledger.restore)
        self._is_used = True
        return found

    def set_prompt(self, text: str) -> None:
        """Have another system prompt, on disk with the next change."""
        self._require_restored()
        prompt = well_formed(text)
        self._ledger.set_prompt(prompt)
        self.line.system_prompt = prompt

    async def write(self, records: Sequence[Record], *, sync: bool) -> None:
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
            self.line.take(record, offset=offset)
            offset += len(data)

    async def whole(self) -> Stretch:
        """All of the line."""
        await self._put_back_what_is_gone()
        return Stretch(self.line, self._ledger.whole())

    async def branch(self, number: int) -> Stretch:
        """A line that was left. Raises ValueError when there is none of that number, SessionError."""
        await self._put_back_what_is_gone()
        return await asyncio.to_thread(self._ledger.rotation, number)

    async def go_to(
        self,
        there: Stretch,
        words: Sequence[tuple[Record, bytes]] = (),
        *,
        to: int,
        reason: RevertReason,
    ) -> Reversion:
        """Go on with `there`, and after it with `words`; the line so far becomes a branch."""
        self._require_restored()
        line = there.line

        def revert(branch: int | None) -> Revert:
            return Revert(to=to, next_id=self.line.next_id, branch=branch, reason=reason, parent=line.parent)

        def then(branch: int | None) -> list[bytes]:
            return [*there.repairs, encode(revert(branch)), *(data for _, data in words)]

        branch = await asyncio.to_thread(self._ledger.begin_anew, there.body, then)
        self._is_used = True
        line.system_prompt = self.line.system_prompt
        line.take(revert(branch))
        for record, _ in words:
            line.take(record)
        from_id = self.line.checkpoints[-1].id if self.line.checkpoints else 0
        self.line = line
        self._replaced()
        return Reversion(branch=branch, from_id=from_id, to=to)

    async def begin_anew(self, messages: Sequence[Message], *, reason: RevertReason) -> Reversion:
        """Go on with `messages` alone."""
        so_far = await self.whole()
        if self.is_empty and not messages:
            return Reversion(branch=None, from_id=0, to=0)
        line = Line()
        line.parent = self.line.parent
        nothing = Stretch(line, so_far.body.until(0))
        return await self.go_to(nothing, [written(message) for message in messages], to=0, reason=reason)

    async def copy(self, stretch: Stretch, path: Path) -> None:
        """Write a stretch of this conversation to another file, after the system prompt."""
        await asyncio.to_thread(self._ledger.copy_to, path, stretch)

    async def _put_back_what_is_gone(self) -> None:
        if await asyncio.to_thread(lambda: self._ledger.is_gone):
            await self._put_back()

    async def _put_back(self) -> None:
        """Write the file anew from memory."""
        line, lines = await asyncio.to_thread(rebuilt, self.line)
        await asyncio.to_thread(self._ledger.put_back, line.system_prompt, lines)
        self.line = line
        self._was_put_back()
        self._replaced()

    def _require_restored(self) -> None:
        if not self._is_used and not self.is_empty:
            raise RuntimeError("The file holds a conversation: restore it first")
