"""A jump to another checkpoint, and what it left behind."""

from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.tui.markdown.line import Line, Spans, ink, span_width
from kimi_tui.tui.markdown.wrap import truncated
from kimi_tui.tui.transcript.blocks.block import Block, counted
from kimi_tui.tui.transcript.piece import Piece
from kimi_tui.wire.events import Reverted, RevertReason

_WORDS: dict[RevertReason, str] = {
    "user": "went back to",
    "dmail": "D-Mail back to",
    "undo": "undid the jump: back at",
    "redo": "redid the jump: at",
    "switch": "switched branches: at",
    "compaction": "compacted up to",
    "clear": "cleared the conversation at",
}
_GUIDE: Spans = (("┆ ", ink("guide")),)


class RevertedBlock(Block):
    """A rule that says where the conversation went; unfolded it shows the blocks that were undone."""

    label = "revert"

    def __init__(self, event: Reverted, undone: Sequence[Block], *, margin: Spans = ()) -> None:
        super().__init__(margin=margin)
        self._event = event
        self.undone = tuple(undone)
        self._head = self.piece(self._lines, gap=1)
        self.pieces = [self._head]

    @property
    def foldable(self) -> bool:
        """Whether something was undone."""
        return bool(self.undone)

    def refold(self) -> None:
        """Show or hide what was undone."""
        self._head.gap = self.head_gap
        self._head.redraw()
        self.pieces = [self._head]
        if not self.folded:
            for block in self.undone:
                self.pieces += [self._dimmed(piece) for piece in block.pieces]

    def _dimmed(self, piece: Piece) -> Piece:
        def draw(width: int) -> list[Line]:
            return [
                replace(line, spans=tuple((text, style.plus("undone")) for text, style in line.spans))
                for line in piece.draw(width)
            ]

        margin = (*self.margin, *_GUIDE)
        return Piece(draw, gap=piece.gap, guess=piece.height - piece.gap, margin=margin)

    def source(self) -> str:
        """What happened, in words."""
        return self._words()

    def full_text(self) -> str:
        """What happened and what was undone."""
        return "\n\n".join([self._words(), *(block.full_text() for block in self.undone)])

    def searched(self) -> str:
        """What happened; what was undone is not searched."""
        return self._words()

    @property
    def title(self) -> str:
        """What happened, in words."""
        return self._words()

    def _words(self) -> str:
        files = f", {counted(len(self._event.files), 'file')} restored" if self._event.files else ""
        if self._event.scope == "files":
            files = ", files only"
        return f"↶ {_WORDS[self._event.reason]} checkpoint {self._event.to}{files}"

    def _lines(self, width: int) -> list[Line]:
        fold = ""
        if self.undone:
            fold = f"{'▸' if self.folded else '▾'} {counted(len(self.undone), 'block')} undone"
        middle = truncated([(f" {self._words()} ", ink("waiting")), (fold, ink("dim"))], max(2, width - 5))
        return [
            Line(
                (
                    ("───", ink("rule")),
                    *middle,
                    (" " + "─" * max(0, width - 4 - span_width(middle)), ink("rule")),
                )
            )
        ]
