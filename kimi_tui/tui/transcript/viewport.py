"""The viewport: which rows of the flow the screen shows, and where it stands while the flow changes.

The place of the top row is what is kept, never a number of rows from the start: so blocks that grow, fold
or are measured above it don't move what is being read. While it follows the end, the end is kept instead.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kimi_tui.tui.markdown.line import Line
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.flow import START, Flow, Place
from kimi_tui.tui.transcript.piece import Picture

_FAR = 4
"""Screens; a jump further than this is by guessed heights."""


class Row(NamedTuple):
    """One row of the screen."""

    place: Place
    block: Block
    picture: Picture

    @property
    def line(self) -> Line:
        """What stands there."""
        return self.picture.lines[self.place.row]


class Viewport:
    """A window of some rows on the flow."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self.height = 0
        """Rows of the screen."""
        self._top = START
        self._put_before = flow.put_before
        self.following = True
        """Whether it keeps to the end."""
        self._held: tuple[Place, int] | None = None
        """The top row after the last change of width, and how many letters of its piece come before it."""

    @property
    def top(self) -> Place:
        """The place of the first row, as of the last `rows`; it moves with what has come before it since."""
        if more := self._flow.put_before - self._put_before:
            self._put_before = self._flow.put_before
            self._top = self._top._replace(chapter=max(0, self._top.chapter + more))
            self._held = None
        return self._top

    @top.setter
    def top(self, place: Place) -> None:
        self._put_before = self._flow.put_before
        self._top = place

    def rows(self) -> list[Row]:
        """The rows to be seen now; fewer than the height when there are no more."""
        if not self.following:
            rows = self._from(self.top)
            if len(rows) == self.height and self._flow.down(self.top, self.height) is not None:
                return rows
            self.following = True
        self.top = self._top_at_end()
        return self._from(self.top)

    def scroll(self, rows: int) -> None:
        """Move down by `rows`, up when negative; what is between is measured, so that it is exact."""
        if abs(rows) > _FAR * max(1, self.height):
            self.go_to_offset(self._flow.offset(self.top) + rows)
        elif rows < 0:
            self.go_to(self._flow.up(self.top, -rows))
        elif not self.following:
            self.go_to(self._flow.down(self.top, rows))

    def go_to_offset(self, offset: int) -> None:
        """Put the row about `offset` rows from the start on top."""
        self.go_to(self._flow.at(offset) if offset > 0 else START)

    def go_to(self, place: Place | None) -> None:
        """Put `place` on top, or as near as the end allows; None goes to the end."""
        self.following = place is None
        if place is not None:
            self.top = place
            self.following = self._flow.down(place, self.height) is None

    def show(self, place: Place, *, above: int = 1) -> None:
        """Have `place` on the screen, moving only if it isn't; then `above` rows from the top."""
        rows = self._from(self.top)
        if any(row.place[:3] == place[:3] and row.place.row >= place.row for row in rows):
            return
        self.go_to(self._flow.up(place, above))

    def hold(self, place: Place | None) -> None:
        """The block that begins at `place` folds or unfolds: its head stays in sight."""
        if place is not None and place[:2] == self.top[:2] and self.top > place:
            self.go_to(place)
        elif self.following:
            self.following = False

    def rewrap(self, width: int) -> None:
        """The width changes: keep the text that stands on top there, through any number of changes."""
        block = self._flow.block_at(self.top)
        if (
            self._flow.width
            and not self.following
            and block is not None
            and self.top.piece < len(block.pieces)
        ):
            piece = block.pieces[self.top.piece]
            if self._held is None or self._held[0] != self.top:
                above = self._flow.picture(block, piece).lines[: self.top.row]
                self._held = self.top, sum(map(_letters, above))
            letters = self._held[1]
            self._flow.width = width
            if self.top.row > piece.gap:
                self.top = self.top._replace(row=_row_of(letters, self._flow.picture(block, piece).lines))
            self._held = self.top, letters
        self._flow.width = width

    def _top_at_end(self) -> Place:
        rows = 0
        top = START
        for place, block, piece in self._flow.pieces_before(None):
            rows += len(self._flow.picture(block, piece).lines)
            top = place
            if rows >= self.height:
                return place._replace(row=rows - self.height)
        return top

    def _from(self, top: Place) -> list[Row]:
        rows: list[Row] = []
        row = top.row
        for place, block, piece in self._flow.pieces_from(top):
            picture = self._flow.picture(block, piece)
            for index in range(row, len(picture.lines)):
                if len(rows) >= self.height:
                    return rows
                rows.append(Row(place._replace(row=index), block, picture))
            row = 0
        return rows


def _row_of(letters: int, lines: Sequence[Line]) -> int:
    # The row that shows the letter after so many.
    for row, line in enumerate(lines):
        letters -= _letters(line)
        if letters < 0:
            return row
    return max(0, len(lines) - 1)


def _letters(line: Line) -> int:
    # Spaces come and go with the breaks.
    return len(line.text[line.margin :].replace(" ", ""))
