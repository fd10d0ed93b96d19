"""Finding text in the conversation, block by block and row by row."""

from collections.abc import Iterator

from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.flow import Flow, Place


class Finder:
    """Steps from match to match of one text, ignoring case, around the end and back to the start."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self.needle = ""
        self.current: Place | None = None
        """The row of the match that was gone to last."""

    def search(self, text: str) -> int:
        """Look for `text` from now on; how often it occurs."""
        self.needle = text.lower()
        self.current = None
        if not self.needle:
            return 0
        return sum(block.full_text().lower().count(self.needle) for _, block in self._blocks())

    def step(self, direction: int, start: Place) -> Place | None:
        """The next match after the current one, or after `start`; None when there is none at all."""
        if not self.needle:
            return None
        here = self.current or start
        inclusive = self.current is None
        places = self._matching_blocks()
        if direction < 0:
            places.reverse()
        ahead = [block for block in places if (block >= here[:2] if direction > 0 else block <= here[:2])]
        around = [block for block in places if block not in ahead]
        for lap, blocks in enumerate((ahead, around, ahead)):
            for chapter, block in blocks:
                rows = self._rows(chapter, block)
                if direction < 0:
                    rows.reverse()
                for place in rows:
                    if lap or self._is_beyond(place, here, direction, inclusive=inclusive):
                        self.current = place
                        return place
        return None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the text stands in a row, as character ranges."""
        found: list[tuple[int, int]] = []
        if not self.needle:
            return found
        lowered = text.lower()
        start = lowered.find(self.needle)
        while start >= 0:
            found.append((start, start + len(self.needle)))
            start = lowered.find(self.needle, start + len(self.needle))
        return found

    def _blocks(self) -> Iterator[tuple[tuple[int, int], Block]]:
        for chapter in range(len(self._flow.chapters)):
            for index, block in enumerate(self._flow.blocks_of(chapter)):
                yield (chapter, index), block

    def _matching_blocks(self) -> list[tuple[int, int]]:
        return [place for place, block in self._blocks() if self.needle in block.full_text().lower()]

    def _rows(self, chapter: int, index: int) -> list[Place]:
        # The rows that show the text. A folded block opens; text broken over rows is found at its head.
        block = self._flow.blocks_of(chapter)[index]
        rows = self._visible_rows(chapter, index, block)
        if not rows and block.folded and block.toggle():
            self._flow.recount(block)
            rows = self._visible_rows(chapter, index, block)
        return rows or [Place(chapter, index, 0, min(1, len(self._head(block)) - 1))]

    def _visible_rows(self, chapter: int, index: int, block: Block) -> list[Place]:
        return [
            Place(chapter, index, number, row)
            for number, piece in enumerate(block.pieces)
            for row, line in enumerate(self._flow.picture(block, piece).lines)
            if self.needle in line.text.lower()
        ]

    def _head(self, block: Block) -> list[object]:
        return list(self._flow.picture(block, block.pieces[0]).lines) if block.pieces else [None]

    def _is_beyond(self, place: Place, here: Place, direction: int, *, inclusive: bool) -> bool:
        if place == here:
            return inclusive
        return place > here if direction > 0 else place < here
