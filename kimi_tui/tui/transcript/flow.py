"""The flow: chapters of blocks one below another, and places in it.

Heights are guesses until a piece comes near the screen. A place names chapter, block, piece and row, so it
stays where it is whatever the rows above it turn out to be; the distance from the top, which only the
scroll bar needs, is a sum over the heights known at the moment.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kimi_tui.tui.transcript.blocks.block import Block, Home
from kimi_tui.tui.transcript.piece import Gallery, Picture, Piece
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.timeline import CheckpointCreated

BLOCKS_IN_CHAPTER = 64
_ROWS_OF_MESSAGE = 3
"""A guess for messages that nobody has looked at yet."""


class Place(NamedTuple):
    """A row of the flow. Rows count from the gap above a piece."""

    chapter: int
    block: int
    piece: int
    row: int = 0


START = Place(0, 0, 0)
_BITS = 20


def code_of(place: Place) -> int:
    """A number for `place` that sorts as places do; what a text selection calls the line."""
    chapter, block, piece, row = place
    return ((chapter << _BITS | block) << _BITS | piece) << _BITS | row


def place_of_code(code: int) -> Place:
    """The place whose number this is."""
    mask = (1 << _BITS) - 1
    return Place(code >> 3 * _BITS, code >> 2 * _BITS & mask, code >> _BITS & mask, code & mask)


class Chapter:
    """A turn, or a stretch of a long one. A replayed turn stays a list of messages until it is looked at."""

    __slots__ = ("blocks", "checkpoints", "height", "is_turn", "stored", "stored_checkpoints")

    def __init__(self, *, is_turn: bool, stored: Sequence[Outgoing] = ()) -> None:
        self.is_turn = is_turn
        """Whether a user message begins it."""
        self.stored = stored
        self.blocks: list[Block] = []
        self.checkpoints: dict[int, int] = {}
        """How many of the blocks stood when a checkpoint was made, by its id."""
        self.stored_checkpoints = frozenset(
            message.id for message in stored if type(message) is CheckpointCreated
        )
        """The ids of the checkpoints among `stored`."""
        self.height = _ROWS_OF_MESSAGE * len(stored)


Reader = Callable[[Chapter, Sequence[Outgoing]], None]
"""Makes the blocks of a stored turn and puts them into its chapter."""


class Flow:
    """All chapters, their heights, and the ways from place to place."""

    def __init__(self, gallery: Gallery, reader: Reader) -> None:
        self.chapters: list[Chapter] = []
        self.height = 0
        self.width = 0
        """Cells of a row; heights measured at another width are guesses."""
        self.put_before = 0
        """How many chapters, all in all, have come before those that stood here already."""
        self._gallery = gallery
        self._reader = reader

    # growing and changing

    def begin_chapter(self, *, is_turn: bool, stored: Sequence[Outgoing] = ()) -> Chapter:
        """Start a chapter at the end."""
        chapter = Chapter(is_turn=is_turn, stored=stored)
        self.chapters.append(chapter)
        self.height += chapter.height
        return chapter

    def append(self, block: Block) -> None:
        """Add a block to the last chapter."""
        last = self.chapters[-1] if self.chapters else None
        if last is None or last.stored or len(last.blocks) >= BLOCKS_IN_CHAPTER:
            self.begin_chapter(is_turn=False)
        chapter = self.chapters[-1]
        chapter.blocks.append(block)
        block.chapter = chapter
        self.recount(block)

    def recount(self, block: Block) -> None:
        """The pieces of `block` have changed: take its new height into account."""
        if block.chapter is None:
            return
        height = sum(piece.height for piece in block.pieces)
        self._grow(block.chapter, height - block.counted)
        block.counted = height

    def remove(self, block: Block) -> None:
        """Take away one of the last blocks."""
        place = self.place_of(block)
        if place is not None:
            chapter = self.chapters[place.chapter]
            chapter.blocks.remove(block)
            self._grow(chapter, -block.counted)
            block.chapter, block.counted = None, 0

    def remove_from(self, chapter_index: int, block_index: int) -> tuple[list[Block], dict[int, int]]:
        """Take away every block from there to the end, and give them back.

        With them come their checkpoints: how many of the blocks stood before each, by its id.
        """
        removed: list[Block] = []
        checkpoints: dict[int, int] = {}
        for index in range(chapter_index, len(self.chapters)):
            chapter = self.chapters[index]
            blocks = self.blocks_of(index)
            first = block_index if index == chapter_index else 0
            gone = {number: at for number, at in chapter.checkpoints.items() if at >= first}
            checkpoints |= {number: len(removed) + at - first for number, at in gone.items()}
            for number in gone:
                del chapter.checkpoints[number]
            for block in blocks[first:]:
                self._grow(chapter, -block.counted)
                block.chapter, block.counted = None, 0
                removed.append(block)
            del blocks[first:]
        del self.chapters[chapter_index + 1 :]
        return removed, checkpoints

    def clear(self) -> None:
        """Remove everything."""
        self.chapters.clear()
        self.height = 0

    # looking

    def blocks_of(self, index: int) -> list[Block]:
        """The blocks of a chapter, made now if it is still stored as messages."""
        chapter = self.chapters[index]
        if chapter.stored:
            stored_height = chapter.height
            stored, chapter.stored = chapter.stored, ()
            self._reader(chapter, stored)
            self.height -= stored_height
            chapter.height = 0
            for block in chapter.blocks:
                block.chapter, block.counted = chapter, 0
                self.recount(block)
        return chapter.blocks

    def blocks(self) -> Iterator[Block]:
        """Every block, from the first."""
        for index in range(len(self.chapters)):
            yield from self.blocks_of(index)

    def picture(self, block: Block, piece: Piece) -> Picture:
        """`piece` laid out; its height is exact from here on."""
        picture = self._gallery.picture(piece, self.width)
        height = len(picture.lines)
        if block.chapter is not None and height != piece.height:
            self._grow(block.chapter, height - piece.height)
            block.counted += height - piece.height
        piece.height, piece.measured = height, self.width
        return picture

    def pieces_from(self, place: Place) -> Iterator[tuple[Place, Block, Piece]]:
        """The piece at `place` and all after it."""
        chapter, first_block, first_piece, _ = place
        while chapter < len(self.chapters):
            blocks = self.blocks_of(chapter)
            for b in range(first_block, len(blocks)):
                for p in range(first_piece, len(blocks[b].pieces)):
                    yield Place(chapter, b, p), blocks[b], blocks[b].pieces[p]
                first_piece = 0
            first_block = first_piece = 0
            chapter += 1

    def pieces_before(self, place: Place | None) -> Iterator[tuple[Place, Block, Piece]]:
        """The pieces above the one at `place`, nearest first; all, from the last one, for None."""
        chapter = len(self.chapters) - 1 if place is None else min(place.chapter, len(self.chapters) - 1)
        at_place = place is not None and chapter == place.chapter
        while chapter >= 0:
            blocks = self.blocks_of(chapter)
            last = min(place.block, len(blocks) - 1) if place is not None and at_place else len(blocks) - 1
            for b in range(last, -1, -1):
                pieces = blocks[b].pieces
                inside = at_place and place is not None and b == place.block
                end = min(place.piece, len(pieces)) if inside and place is not None else len(pieces)
                for p in range(end - 1, -1, -1):
                    yield Place(chapter, b, p), blocks[b], pieces[p]
            at_place = False
            chapter -= 1

    def offset(self, place: Place) -> int:
        """Rows between the top and `place`, by the heights known now."""
        if place.chapter >= len(self.chapters):
            return self.height
        if place.chapter > len(self.chapters) // 2:
            rows = self.height - sum(chapter.height for chapter in self.chapters[place.chapter :])
        else:
            rows = sum(chapter.height for chapter in self.chapters[: place.chapter])
        blocks = self.blocks_of(place.chapter)
        rows += sum(block.counted for block in blocks[: place.block])
        if place.block >= len(blocks):
            return rows
        return rows + sum(piece.height for piece in blocks[place.block].pieces[: place.piece]) + place.row

    def at(self, offset: int) -> Place:
        """The place that is `offset` rows from the top, by the heights known now."""
        rows = max(0, offset)
        for index, chapter in enumerate(self.chapters):
            if rows < chapter.height or index == len(self.chapters) - 1:
                return self._within(index, rows)
            rows -= chapter.height
        return START

    def up(self, place: Place, rows: int) -> Place:
        """`rows` rows above `place`, measuring what lies between; the start if there are fewer."""
        if rows <= place.row:
            return place._replace(row=place.row - rows)
        rows -= place.row
        for above, block, piece in self.pieces_before(place):
            height = len(self.picture(block, piece).lines)
            if rows <= height:
                return above._replace(row=height - rows)
            rows -= height
        return START

    def down(self, place: Place, rows: int) -> Place | None:
        """`rows` rows below `place`, measuring what lies between; None beyond the end."""
        rows += place.row
        for below, block, piece in self.pieces_from(place):
            height = len(self.picture(block, piece).lines)
            if rows < height:
                return below._replace(row=rows)
            rows -= height
        return None

    def place_of(self, block: Block) -> Place | None:
        """Where `block` begins; None when it isn't in the flow."""
        for index in range(len(self.chapters) - 1, -1, -1):
            if self.chapters[index] is block.chapter:
                return Place(index, self.chapters[index].blocks.index(block), 0)
        return None

    def block_at(self, place: Place) -> Block | None:
        """The block at `place`."""
        if place.chapter >= len(self.chapters):
            return None
        blocks = self.blocks_of(place.chapter)
        return blocks[place.block] if place.block < len(blocks) else None

    def place_of_checkpoint(self, checkpoint_id: int) -> Place | None:
        """Where what came after a checkpoint begins; None when it isn't in the flow."""
        for index in range(len(self.chapters) - 1, -1, -1):
            chapter = self.chapters[index]
            if checkpoint_id in chapter.stored_checkpoints:
                self.blocks_of(index)
            position = chapter.checkpoints.get(checkpoint_id)
            if position is not None:
                return Place(index, position, 0)
        return None

    def checkpoint_before(self, block: Block) -> int | None:
        """The last checkpoint that was made before `block`; None when none is known."""
        place = self.place_of(block)
        if place is None:
            return None
        for index in range(place.chapter, -1, -1):
            self.blocks_of(index)
            known = self.chapters[index].checkpoints
            if index == place.chapter:
                known = {number: at for number, at in known.items() if at <= place.block}
            if known:
                return max(known)
        return None

    def neighbour(self, place: Place, direction: int) -> Block | None:
        """The block after (1) or before (-1) the one at `place`; None at either end."""
        index, position = place.chapter, place.block + direction
        while 0 <= index < len(self.chapters):
            blocks = self.blocks_of(index)
            if 0 <= position < len(blocks):
                if blocks[position].pieces:
                    return blocks[position]
                position += direction
                continue
            index += direction
            if 0 <= index < len(self.chapters):
                position = 0 if direction > 0 else len(self.blocks_of(index)) - 1
        return None

    def _within(self, index: int, rows: int) -> Place:
        # A stored chapter has only a guessed height until its blocks are made: keep the proportion.
        guessed = self.chapters[index].height
        blocks = self.blocks_of(index)
        rows = rows * self.chapters[index].height // guessed if guessed else 0
        for b, block in enumerate(blocks):
            if rows < block.counted:
                for p, piece in enumerate(block.pieces):
                    if rows < piece.height:
                        height = len(self.picture(block, piece).lines)
                        return Place(index, b, p, min(rows, max(0, height - 1)))
                    rows -= piece.height
            rows -= block.counted
        return Place(index, max(0, len(blocks) - 1), 0)

    def _grow(self, chapter: Home, rows: int) -> None:
        chapter.height += rows
        self.height += rows
