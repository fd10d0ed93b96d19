"""Viewport: the visible rows of the layout, and its position while the layout changes.

The viewport stores the position of its top row, not an offset from the start. So changing, folding or
measuring blocks above the viewport doesn't move the visible text. While the viewport follows the end, it
stays at the end.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kimi_tui.tui.markdown.styled_line import StyledLine
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.layout import START, Position, TranscriptLayout
from kimi_tui.tui.transcript.render_cache import RenderedPiece

_MAX_EXACT_SCREENS = 4
"""Maximum number of screens to scroll with exact heights. Longer distances use estimates."""


class VisibleRow(NamedTuple):
    """One row of the screen."""

    position: Position
    block: Block
    rendered_piece: RenderedPiece

    @property
    def line(self) -> StyledLine:
        """The styled text of the row."""
        return self.rendered_piece.lines[self.position.row]


class Viewport:
    """Window over the rows of a layout."""

    def __init__(self, layout: TranscriptLayout) -> None:
        self._layout = layout
        self.height = 0
        """Number of rows of the screen."""
        self._top = START
        self._prepended_sections = layout.prepended_sections
        self.is_following = True
        """Whether the viewport stays at the end."""
        self._width_anchor: tuple[Position, int] | None = None
        """Top row after the last change of width, and the number of characters of its piece above the row."""

    @property
    def top(self) -> Position:
        """Position of the first row, adjusted for sections inserted before it."""
        if prepended := self._layout.prepended_sections - self._prepended_sections:
            self._prepended_sections = self._layout.prepended_sections
            self._top = self._top._replace(section=max(0, self._top.section + prepended))
            self._width_anchor = None
        return self._top

    @top.setter
    def top(self, position: Position) -> None:
        self._prepended_sections = self._layout.prepended_sections
        self._top = position

    def visible_rows(self) -> list[VisibleRow]:
        """Return the visible rows. Fewer than `height` if the conversation is shorter."""
        if not self.is_following:
            rows = self._rows_from(self.top)
            if len(rows) == self.height and self._layout.position_below(self.top, self.height) is not None:
                return rows
            self.is_following = True
        self.top = self._top_for_end()
        return self._rows_from(self.top)

    def scroll(self, rows: int) -> None:
        """Scroll down by `rows`, up if negative. The pieces between are measured, so the result is exact."""
        if abs(rows) > _MAX_EXACT_SCREENS * max(1, self.height):
            self.go_to_offset(self._layout.offset_of(self.top) + rows)
        elif rows < 0:
            self.go_to(self._layout.position_above(self.top, -rows))
        elif not self.is_following:
            self.go_to(self._layout.position_below(self.top, rows))

    def go_to_offset(self, offset: int) -> None:
        """Put the row about `offset` rows from the start at the top."""
        self.go_to(self._layout.position_at(offset) if offset > 0 else START)

    def go_to(self, position: Position | None) -> None:
        """Put `position` at the top, or as near as the end allows. None goes to the end."""
        self.is_following = position is None
        if position is not None:
            self.top = position
            self.is_following = self._layout.position_below(position, self.height) is None

    def ensure_visible(self, position: Position, *, above: int = 1) -> None:
        """Scroll to `position` only if it isn't visible, and leave `above` rows above it."""
        rows = self._rows_from(self.top)
        if any(row.position[:3] == position[:3] and row.position.row >= position.row for row in rows):
            return
        self.go_to(self._layout.position_above(position, above))

    def keep_head_visible(self, position: Position | None) -> None:
        """Keep the head visible while the block at `position` is folded or unfolded."""
        if position is not None and position[:2] == self.top[:2] and self.top > position:
            self.go_to(position)
        elif self.is_following:
            self.is_following = False

    def rewrap(self, width: int) -> None:
        """Change the width. The text at the top stays at the top, even after several changes."""
        block = self._layout.block_at(self.top)
        if (
            self._layout.width
            and not self.is_following
            and block is not None
            and self.top.piece < len(block.pieces)
        ):
            piece = block.pieces[self.top.piece]
            if self._width_anchor is None or self._width_anchor[0] != self.top:
                above = self._layout.render_piece(block, piece).lines[: self.top.row]
                self._width_anchor = self.top, sum(map(_count_letters, above))
            letters = self._width_anchor[1]
            self._layout.set_width(width)
            if self.top.row > piece.gap:
                self.top = self.top._replace(
                    row=_find_row(letters, self._layout.render_piece(block, piece).lines)
                )
            self._width_anchor = self.top, letters
        elif self._layout.width != width:
            self._layout.set_width(width)

    def _top_for_end(self) -> Position:
        rows = 0
        top = START
        for position, block, piece in self._layout.pieces_before(None):
            rows += len(self._layout.render_piece(block, piece).lines)
            top = position
            if rows >= self.height:
                return position._replace(row=rows - self.height)
        return top

    def _rows_from(self, top: Position) -> list[VisibleRow]:
        rows: list[VisibleRow] = []
        row = top.row
        for position, block, piece in self._layout.pieces_from(top):
            rendered = self._layout.render_piece(block, piece)
            for index in range(row, len(rendered.lines)):
                if len(rows) >= self.height:
                    return rows
                rows.append(VisibleRow(position._replace(row=index), block, rendered))
            row = 0
        return rows


def _find_row(letters: int, lines: Sequence[StyledLine]) -> int:
    # Return the row that contains the character after the first `letters`.
    for row, line in enumerate(lines):
        letters -= _count_letters(line)
        if letters < 0:
            return row
    return max(0, len(lines) - 1)


def _count_letters(line: StyledLine) -> int:
    # Spaces aren't counted, as wrapping removes some.
    return len(line.text[line.margin :].replace(" ", ""))
