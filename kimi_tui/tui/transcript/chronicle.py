"""The chronicle: everything the wire has told, as chapters; history stays messages until it is looked at."""

from collections.abc import Sequence

from kimi_tui.base.message import ToolCall
from kimi_tui.tui.transcript.blocks.answer import AnswerBlock
from kimi_tui.tui.transcript.blocks.block import Block, Clock
from kimi_tui.tui.transcript.blocks.reverted import RevertedBlock
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.blocks.user import UserBlock
from kimi_tui.tui.transcript.calls import OpenCalls
from kimi_tui.tui.transcript.flow import START, Chapter, Flow, Place
from kimi_tui.tui.transcript.piece import Gallery
from kimi_tui.tui.transcript.scribe import Scribe
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import CheckpointCreated, ReplayBegin, ReplayEnd, Reverted, TurnBegin

_BOUNDARIES = frozenset({TurnBegin, ReplayEnd, Reverted})
MOST_UNDONE = 500
"""Blocks that markers keep to be unfolded, all together; the latest jump always keeps what it undid."""


class Chronicle:
    """Receives messages in order. A replay is only stored, a turn to a chapter, so that opening is quick."""

    def __init__(self, gallery: Gallery, clock: Clock) -> None:
        self.flow = Flow(gallery, self._read)
        self._clock = clock
        self._calls = OpenCalls(clock)
        self._scribe = Scribe(self, calls=self._calls)
        self._replayed: list[Outgoing] | None = None
        self._markers: list[RevertedBlock] = []
        """Every jump that is marked, oldest first."""
        self._jumped: Reverted | None = None
        """A jump that is marked only after the replay of where it led to."""
        self.arrivals = 0
        """Counts what came to be seen."""
        self._told_already: int | None = None
        """While all is told of a conversation whose end stood here: how many chapters of it did."""
        self._history_is_open = False
        self._replayed_chapters = 0
        """How many chapters stood when the last replay was over."""

    @property
    def running(self) -> list[ToolCallBlock]:
        """Tool calls whose time passes."""
        return self._calls.running

    def show(self, message: Outgoing) -> None:
        """Take in one message. Call `settle` after the last of a batch."""
        if self._replayed is not None:
            self._replay(message)
        elif isinstance(message, ReplayBegin):
            if message.anew:
                self._begin_anew()
            self._replayed = []
        else:
            self._scribe.show(message)

    def store(self, messages: Sequence[Outgoing]) -> Sequence[Outgoing]:
        """Take in what of `messages` belongs to a replay, quickly; the rest is given back for `show`."""
        if self._replayed is None and not any(type(message) is ReplayBegin for message in messages):
            return messages
        for index, message in enumerate(messages):
            self.show(message)
            if type(message) is ReplayEnd:
                return messages[index + 1 :]
        return ()

    def settle(self) -> None:
        """A batch is over."""
        self._scribe.settle()

    def clear(self) -> None:
        """Forget everything."""
        self.flow.clear()
        self._calls = OpenCalls(self._clock)
        self._scribe = Scribe(self, calls=self._calls)
        self._replayed = None
        self._markers.clear()

    def live_blocks(self) -> list[Block]:
        """What has come since the last replay."""
        live = self.flow.chapters[self._replayed_chapters :]
        return [block for chapter in live for block in chapter.blocks]

    def block_of_call(self, call_id: str) -> ToolCallBlock | None:
        """The block of a tool call, the latest first."""
        for index in range(len(self.flow.chapters) - 1, -1, -1):
            stored = self.flow.chapters[index].stored
            if stored and not any(isinstance(m, ToolCall) and m.id == call_id for m in stored):
                continue
            for block in reversed(self.flow.blocks_of(index)):
                if isinstance(block, ToolCallBlock) and block.call_id == call_id:
                    return block
        return None

    def last_answer(self) -> AnswerBlock | None:
        """The latest answer."""
        for index in range(len(self.flow.chapters) - 1, -1, -1):
            for block in reversed(self.flow.blocks_of(index)):
                if isinstance(block, AnswerBlock):
                    return block
        return None

    def toggle_all(self) -> None:
        """Unfold everything that is folded, or fold everything when nothing is; history as it is read."""
        blocks = [block for chapter in self.flow.chapters for block in chapter.blocks if block.foldable]
        unfold = any(block.folded for block in blocks)
        self._history_is_open = unfold
        for block in blocks:
            if block.folded == unfold:
                block.toggle()
                self.flow.recount(block)

    # what a scribe asks of its page

    def begin_turn(self) -> None:
        """A turn is a chapter."""
        self.flow.begin_chapter(is_turn=True)

    def append(self, block: Block) -> None:
        """Put `block` at the end."""
        self.flow.append(block)
        self.arrivals += 1

    def changed(self, block: Block) -> None:
        """Count the rows of `block` anew."""
        self.flow.recount(block)
        self.arrivals += 1

    def drop(self, block: Block) -> None:
        """Take away `block`, one of the last."""
        self.flow.remove(block)

    def checkpoint(self, event: CheckpointCreated) -> None:
        """Remember where a checkpoint stands."""
        if not self.flow.chapters:
            self.flow.begin_chapter(is_turn=False)
        mark_checkpoint(self.flow.chapters[-1], event)

    def revert(self, event: Reverted) -> None:
        """Put everything after the checkpoint into a marker that opens."""
        if event.reason == "compaction":
            return
        self._jumped = event
        place = None
        if event.reason == "clear":
            place = self._start_of_conversation()
        elif event.scope not in ("files", "turn"):
            place = self.flow.place_of_checkpoint(event.to)
        if place is None:
            self._mark(RevertedBlock(event, ()))
        else:
            undone, checkpoints = self.flow.remove_from(place.chapter, place.block)
            self._mark(RevertedBlock(event, undone, checkpoints=checkpoints))

    def marker_of_checkpoint(self, checkpoint_id: int) -> RevertedBlock | None:
        """The marker that holds what came after a checkpoint which was undone."""
        return next((marker for marker in self._markers if checkpoint_id in marker.checkpoints), None)

    def _start_of_conversation(self) -> Place:
        """Where what counts begins: behind what was cleared last."""
        for marker in reversed(self._markers):
            if marker.is_of_clear and (place := self.flow.place_of(marker)) is not None:
                return place._replace(block=place.block + 1)
        return START

    def _mark(self, marker: RevertedBlock) -> None:
        if self._markers:
            self._markers[-1].grow_old()
            self.flow.recount(self._markers[-1])
        self._markers = [kept for kept in self._markers if kept.chapter is not None]
        self._let_go_of_old(MOST_UNDONE - marker.held)
        self._markers.append(marker)
        self.flow.append(marker)
        self.arrivals += 1

    def _let_go_of_old(self, room: int) -> None:
        for marker in reversed(self._markers):
            room -= marker.held
            if room < 0 and marker.undone:
                marker.let_go()
                self.flow.recount(marker)

    def _begin_anew(self) -> None:
        jumped, self._jumped = self._jumped, None
        stood = self._replayed_chapters
        self.clear()
        self._jumped = jumped
        self._told_already = stood if jumped is None else None

    # history

    def _read(self, chapter: Chapter, messages: Sequence[Outgoing]) -> None:
        read_chapter(chapter, messages)
        if self._history_is_open:
            for block in chapter.blocks:
                block.toggle()

    def _replay(self, message: Outgoing) -> None:
        kind = type(message)
        if kind in _BOUNDARIES:
            self._store()
        if kind is ReplayEnd:
            self._replayed = None
            if self._jumped is not None and not self._markers:
                self._mark(RevertedBlock(self._jumped, ()))
            self._jumped = None
            self._replayed_chapters = len(self.flow.chapters)
            if self._told_already is not None:
                self.flow.put_before += self._replayed_chapters - self._told_already
            self._told_already = None
        elif isinstance(message, Reverted):
            self.revert(message)
        elif self._replayed is not None:
            self._replayed.append(message)

    def _store(self) -> None:
        if self._replayed:
            self.flow.begin_chapter(
                is_turn=isinstance(self._replayed[0], TurnBegin), stored=tuple(self._replayed)
            )
        self._replayed = []


def mark_checkpoint(chapter: Chapter, event: CheckpointCreated) -> None:
    """Note in `chapter` which blocks come before the checkpoint; that of a prompt comes before the prompt."""
    position = len(chapter.blocks)
    if event.kind == "user" and chapter.blocks and isinstance(chapter.blocks[-1], UserBlock):
        position -= 1
    chapter.checkpoints[event.id] = position


def read_chapter(chapter: Chapter, messages: Sequence[Outgoing]) -> None:
    """Make the blocks of a stored turn."""
    scribe = Scribe(_StoredPage(chapter), calls=OpenCalls(None))
    for message in messages:
        scribe.show(message)
    scribe.close()


class _StoredPage:
    """Collects the blocks of one chapter, whose rows the flow counts afterwards."""

    def __init__(self, chapter: Chapter) -> None:
        self._chapter = chapter

    def begin_turn(self) -> None:
        """The chapter is the turn."""

    def append(self, block: Block) -> None:
        """Put `block` at the end."""
        self._chapter.blocks.append(block)

    def changed(self, block: Block) -> None:
        """Nothing is counted yet."""

    def drop(self, block: Block) -> None:
        """Take `block` away."""
        self._chapter.blocks.remove(block)

    def checkpoint(self, event: CheckpointCreated) -> None:
        """Remember where a checkpoint stands."""
        mark_checkpoint(self._chapter, event)

    def revert(self, event: Reverted) -> None:
        """A jump within a stored turn; those between turns never get here."""
        self._chapter.blocks.append(RevertedBlock(event, ()))
