"""Layout of the conversation: blocks in sections, and positions in them.

Heights are estimates until a piece comes near the screen. A position consists of section, block, piece and
row. So it stays valid when rows above are measured. The offset from the top is only for the scroll bar. It is
the sum of the heights currently known.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from kimi_tui.frontend.message_batch import ConversationMessage
from kimi_tui.tui.transcript.blocks.block import Block, BlockContainer
from kimi_tui.tui.transcript.render_cache import Piece, RenderCache, RenderedPiece
from kimi_tui.wire.timeline import CheckpointCreated

BLOCKS_PER_SECTION = 64
_ROWS_PER_MESSAGE = 3
"""Estimated number of rows per stored message."""
_MAX_MEASURED_ROWS = 400
"""Maximum number of rows to measure before they are visible, newest first.

Older rows keep their estimates. Among that many rows, a wrong estimate moves the scroll bar by less than a
cell.
"""


class Position(NamedTuple):
    """Row of the layout. `row` counts from the first row of the piece, including the gap above it."""

    section: int
    block: int
    piece: int
    row: int = 0


START = Position(0, 0, 0)
_BITS = 20


def encode_position(position: Position) -> int:
    """Return an integer that sorts like `position`. Used as the line number of text selections."""
    section, block, piece, row = position
    return ((section << _BITS | block) << _BITS | piece) << _BITS | row


def decode_position(code: int) -> Position:
    """Return the position encoded in `code`."""
    mask = (1 << _BITS) - 1
    return Position(code >> 3 * _BITS, code >> 2 * _BITS & mask, code >> _BITS & mask, code & mask)


class Section:
    """A turn, or a part of a long turn. A replayed turn is stored as messages until it is viewed."""

    __slots__ = ("blocks", "checkpoints", "height", "is_turn", "stored_checkpoint_ids", "stored_messages")

    def __init__(self, *, is_turn: bool, stored_messages: Sequence[ConversationMessage] = ()) -> None:
        self.is_turn = is_turn
        """Whether the section begins with a message of the user."""
        self.stored_messages = stored_messages
        self.blocks: list[Block] = []
        self.checkpoints: dict[int, int] = {}
        """Number of blocks that precede each checkpoint, by checkpoint id."""
        self.stored_checkpoint_ids = frozenset(
            message.id for message in stored_messages if type(message) is CheckpointCreated
        )
        """Ids of the checkpoints in `stored_messages`."""
        self.height = _ROWS_PER_MESSAGE * len(stored_messages)


class SectionLoader(Protocol):
    """Builds blocks when they are first needed."""

    def load_section(self, section: Section, messages: Sequence[ConversationMessage]) -> None:
        """Build the blocks of a stored turn and add them to its section."""


class TranscriptLayout:
    """All sections, their heights, and the navigation between positions."""

    def __init__(self, render_cache: RenderCache, section_loader: SectionLoader) -> None:
        self.sections: list[Section] = []
        self.height = 0
        self.width = 0
        """Cells of a row. Heights measured at another width are estimates."""
        self.prepended_sections = 0
        """Total number of sections inserted before existing sections."""
        self._render_cache = render_cache
        self._section_loader = section_loader
        self._unmeasured: OrderedDict[Block, None] = OrderedDict()
        self._measured_rows = 0
        """Rows measured since the last change."""

    # changes

    def set_width(self, width: int) -> None:
        """Change the width. The newest blocks are measured again by `measure`."""
        self.width = width
        self._measured_rows = 0
        room = _MAX_MEASURED_ROWS
        for section in reversed(self.sections):
            newest = section.blocks[-room:] if room > 0 else ()
            for block in reversed(newest):
                self._unmeasured[block] = None
                self._unmeasured.move_to_end(block, last=False)
            room -= len(newest)

    @property
    def has_estimates(self) -> bool:
        """Whether `measure` has blocks to measure. Blocks that were drawn as a whole are already measured."""
        while self._unmeasured:
            block = next(reversed(self._unmeasured))
            if block.section is not None and any(
                piece.measured_width != self.width for piece in reversed(block.pieces)
            ):
                return True
            del self._unmeasured[block]
        return False

    def measure(self, max_pieces: int) -> bool:
        """Replace up to `max_pieces` estimated heights by exact heights, newest blocks first.

        Returns whether estimates remain. Without measuring, the height of a block would depend on whether a
        frame was drawn while the block was visible. The scroll bar would jump when the user scrolls to the
        block.
        """
        while self._unmeasured and self._measured_rows < _MAX_MEASURED_ROWS:
            block, _ = self._unmeasured.popitem()
            for piece in reversed(block.pieces) if block.section is not None else ():
                if piece.measured_width == self.width:
                    continue
                if max_pieces == 0 or self._measured_rows >= _MAX_MEASURED_ROWS:
                    self._unmeasured[block] = None
                    break
                self._measured_rows += len(self.render_piece(block, piece).lines)
                max_pieces -= 1
            if max_pieces == 0 and self._unmeasured:
                return True
        self._unmeasured.clear()
        return False

    def begin_section(self, *, is_turn: bool, stored_messages: Sequence[ConversationMessage] = ()) -> Section:
        """Add a section at the end."""
        section = Section(is_turn=is_turn, stored_messages=stored_messages)
        self.sections.append(section)
        self.height += section.height
        return section

    def append(self, block: Block) -> None:
        """Add a block to the last section."""
        last = self.sections[-1] if self.sections else None
        if last is None or last.stored_messages or len(last.blocks) >= BLOCKS_PER_SECTION:
            self.begin_section(is_turn=False)
        section = self.sections[-1]
        section.blocks.append(block)
        block.section = section
        self.remeasure(block)

    def remeasure(self, block: Block) -> None:
        """Update the height of `block` after its pieces have changed."""
        if block.section is None:
            return
        height = sum(piece.height for piece in block.pieces)
        self._add_height(block.section, height - block.counted_rows)
        block.counted_rows = height
        self._unmeasured[block] = None
        self._measured_rows = 0
        if len(self._unmeasured) > _MAX_MEASURED_ROWS:
            self._unmeasured.popitem(last=False)

    def remove(self, block: Block) -> None:
        """Remove one of the last blocks."""
        position = self.position_of(block)
        if position is not None:
            section = self.sections[position.section]
            section.blocks.remove(block)
            self._add_height(section, -block.counted_rows)
            block.section, block.counted_rows = None, 0

    def remove_from(self, section_index: int, block_index: int) -> tuple[list[Block], dict[int, int]]:
        """Remove all blocks from the given one to the end and return them.

        The second value has the removed checkpoints: the number of removed blocks before each checkpoint, by
        checkpoint id.
        """
        removed: list[Block] = []
        checkpoints: dict[int, int] = {}
        for index in range(section_index, len(self.sections)):
            section = self.sections[index]
            blocks = self.blocks_of(index)
            first = block_index if index == section_index else 0
            removed_checkpoints = {number: at for number, at in section.checkpoints.items() if at >= first}
            checkpoints |= {number: len(removed) + at - first for number, at in removed_checkpoints.items()}
            for number in removed_checkpoints:
                del section.checkpoints[number]
            for block in blocks[first:]:
                self._add_height(section, -block.counted_rows)
                block.section, block.counted_rows = None, 0
                removed.append(block)
            del blocks[first:]
        del self.sections[section_index + 1 :]
        return removed, checkpoints

    def clear(self) -> None:
        """Remove everything."""
        self.sections.clear()
        self._unmeasured.clear()
        self.height = 0

    # queries

    def blocks_of(self, index: int) -> list[Block]:
        """Return the blocks of a section. Build them if the section is still stored as messages."""
        section = self.sections[index]
        if section.stored_messages:
            stored_height = section.height
            messages, section.stored_messages = section.stored_messages, ()
            self._section_loader.load_section(section, messages)
            self.height -= stored_height
            section.height = 0
            for block in section.blocks:
                block.section, block.counted_rows = section, 0
                self.remeasure(block)
        return section.blocks

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in order."""
        for index in range(len(self.sections)):
            yield from self.blocks_of(index)

    def render_piece(self, block: Block, piece: Piece) -> RenderedPiece:
        """Return `piece` laid out. Its height is exact afterwards."""
        rendered = self._render_cache.render(piece, self.width)
        height = len(rendered.lines)
        if block.section is not None and height != piece.height:
            self._add_height(block.section, height - piece.height)
            block.counted_rows += height - piece.height
        piece.height, piece.measured_width = height, self.width
        return rendered

    def pieces_from(self, position: Position) -> Iterator[tuple[Position, Block, Piece]]:
        """Yield the piece at `position` and all pieces after it."""
        section_index, first_block, first_piece, _ = position
        while section_index < len(self.sections):
            blocks = self.blocks_of(section_index)
            for b in range(first_block, len(blocks)):
                for p in range(first_piece, len(blocks[b].pieces)):
                    yield Position(section_index, b, p), blocks[b], blocks[b].pieces[p]
                first_piece = 0
            first_block = first_piece = 0
            section_index += 1

    def pieces_before(self, position: Position | None) -> Iterator[tuple[Position, Block, Piece]]:
        """Yield the pieces above the piece at `position`, nearest first. None yields all pieces."""
        section_index = (
            len(self.sections) - 1 if position is None else min(position.section, len(self.sections) - 1)
        )
        in_section = position is not None and section_index == position.section
        while section_index >= 0:
            blocks = self.blocks_of(section_index)
            last = (
                min(position.block, len(blocks) - 1)
                if position is not None and in_section
                else len(blocks) - 1
            )
            for b in range(last, -1, -1):
                pieces = blocks[b].pieces
                in_block = in_section and position is not None and b == position.block
                end = min(position.piece, len(pieces)) if in_block and position is not None else len(pieces)
                for p in range(end - 1, -1, -1):
                    yield Position(section_index, b, p), blocks[b], pieces[p]
            in_section = False
            section_index -= 1

    def offset_of(self, position: Position) -> int:
        """Return the number of rows above `position`, based on the currently known heights."""
        if position.section >= len(self.sections):
            return self.height
        if position.section > len(self.sections) // 2:
            rows = self.height - sum(section.height for section in self.sections[position.section :])
        else:
            rows = sum(section.height for section in self.sections[: position.section])
        blocks = self.blocks_of(position.section)
        rows += sum(block.counted_rows for block in blocks[: position.block])
        if position.block >= len(blocks):
            return rows
        return (
            rows
            + sum(piece.height for piece in blocks[position.block].pieces[: position.piece])
            + position.row
        )

    def position_at(self, offset: int) -> Position:
        """Return the position `offset` rows from the top, based on the currently known heights."""
        rows = max(0, offset)
        for index, section in enumerate(self.sections):
            if rows < section.height or index == len(self.sections) - 1:
                return self._position_in_section(index, rows)
            rows -= section.height
        return START

    def position_above(self, position: Position, rows: int) -> Position:
        """Return the position `rows` rows above, measuring the pieces between. Stops at the start."""
        if rows <= position.row:
            return position._replace(row=position.row - rows)
        rows -= position.row
        for above, block, piece in self.pieces_before(position):
            height = len(self.render_piece(block, piece).lines)
            if rows <= height:
                return above._replace(row=height - rows)
            rows -= height
        return START

    def position_below(self, position: Position, rows: int) -> Position | None:
        """Return the position `rows` rows below, measuring the pieces between. None beyond the end."""
        rows += position.row
        for below, block, piece in self.pieces_from(position):
            height = len(self.render_piece(block, piece).lines)
            if rows < height:
                return below._replace(row=rows)
            rows -= height
        return None

    def position_of(self, block: Block) -> Position | None:
        """Return the position of `block`. None if the block isn't in the layout."""
        for index in range(len(self.sections) - 1, -1, -1):
            if self.sections[index] is block.section:
                return Position(index, self.sections[index].blocks.index(block), 0)
        return None

    def block_at(self, position: Position) -> Block | None:
        """Return the block at `position`."""
        if position.section >= len(self.sections):
            return None
        blocks = self.blocks_of(position.section)
        return blocks[position.block] if position.block < len(blocks) else None

    def position_of_checkpoint(self, checkpoint_id: int) -> Position | None:
        """Return the position of the first block after a checkpoint. None if it isn't in the layout."""
        for index in range(len(self.sections) - 1, -1, -1):
            section = self.sections[index]
            if checkpoint_id in section.stored_checkpoint_ids:
                self.blocks_of(index)
            block_index = section.checkpoints.get(checkpoint_id)
            if block_index is not None:
                return Position(index, block_index, 0)
        return None

    def checkpoint_before(self, block: Block) -> int | None:
        """Return the id of the last checkpoint before `block`, if any."""
        position = self.position_of(block)
        if position is None:
            return None
        for index in range(position.section, -1, -1):
            self.blocks_of(index)
            checkpoints = self.sections[index].checkpoints
            if index == position.section:
                checkpoints = {number: at for number, at in checkpoints.items() if at <= position.block}
            if checkpoints:
                return max(checkpoints)
        return None

    def neighbor(self, start: Position, direction: int) -> Block | None:
        """Return the block after (1) or before (-1) the block at `start`. None at either end."""
        index, block_index = start.section, start.block + direction
        while 0 <= index < len(self.sections):
            blocks = self.blocks_of(index)
            if 0 <= block_index < len(blocks):
                if blocks[block_index].pieces:
                    return blocks[block_index]
                block_index += direction
                continue
            index += direction
            if 0 <= index < len(self.sections):
                block_index = 0 if direction > 0 else len(self.blocks_of(index)) - 1
        return None

    def _position_in_section(self, index: int, rows: int) -> Position:
        # The height of a stored section is an estimate until its blocks are built: scale `rows` accordingly.
        estimated_height = self.sections[index].height
        blocks = self.blocks_of(index)
        rows = rows * self.sections[index].height // estimated_height if estimated_height else 0
        for b, block in enumerate(blocks):
            if rows < block.counted_rows:
                for p, piece in enumerate(block.pieces):
                    if rows < piece.height:
                        height = len(self.render_piece(block, piece).lines)
                        return Position(index, b, p, min(rows, max(0, height - 1)))
                    rows -= piece.height
            rows -= block.counted_rows
        return Position(index, max(0, len(blocks) - 1), 0)

    def _add_height(self, section: BlockContainer, rows: int) -> None:
        section.height += rows
        self.height += rows
