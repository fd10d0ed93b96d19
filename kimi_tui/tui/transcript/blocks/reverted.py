"""A jump to another checkpoint, and what it left behind."""

from collections.abc import Mapping, Sequence

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import later, say, say_many
from kimi_tui.tui.markdown.line import Ink, Line, Spans, ink
from kimi_tui.tui.markdown.wrap import truncated, wrap
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.rule import rule
from kimi_tui.tui.transcript.piece import Piece, undone
from kimi_tui.wire.events import Reverted, RevertReason

_WORDS: dict[RevertReason, str] = {
    "user": later("went back to checkpoint {number}"),
    "dmail": later("D-Mail back to checkpoint {number}"),
    "undo": later("undid the jump: back at checkpoint {number}"),
    "redo": later("redid the jump: at checkpoint {number}"),
    "switch": later("switched branches: at checkpoint {number}"),
    "compaction": later("compacted up to checkpoint {number}"),
    "clear": later("cleared the conversation"),
}
_BACK = later("/undo takes it back, and so does u in the timeline")
_HINTS: dict[RevertReason, str] = {
    "user": _BACK,
    "undo": later("/redo does it again, and so does U in the timeline"),
    "redo": _BACK,
    "switch": _BACK,
    "clear": _BACK,
}
_NAMED = 20
"""So many files that stayed are named, as far as the line goes."""
_GUIDE: Spans = (("┆ ", ink("guide")),)


class RevertedBlock(Block):
    """A rule that says where the conversation went; unfolded it shows the blocks that were undone."""

    label = later("revert")
    is_all_head = True

    def __init__(
        self,
        event: Reverted,
        undone: Sequence[Block],
        *,
        checkpoints: Mapping[int, int] | None = None,
        margin: Spans = (),
    ) -> None:
        """`checkpoints` tells how many of the blocks stood before each checkpoint that was undone."""
        super().__init__(margin=margin)
        self._event = event
        self.undone = tuple(undone)
        self._n_undone = len(self.undone)
        self.checkpoints = checkpoints or {}
        self.is_latest = True
        """Whether it is the jump that an undo would take back."""
        self._head = self.piece(self._lines, gap=1)
        self.pieces = [self._head]

    @property
    def foldable(self) -> bool:
        """Whether something was undone."""
        return bool(self.undone)

    @property
    def is_of_clear(self) -> bool:
        """Whether the conversation began anew there."""
        return self._event.reason == "clear"

    @property
    def held(self) -> int:
        """How many blocks it keeps, with those of markers among them."""
        return sum(1 + (block.held if isinstance(block, RevertedBlock) else 0) for block in self.undone)

    def let_go(self) -> None:
        """Keep no longer what was undone; the timeline still has it."""
        self.undone, self.checkpoints = (), {}
        self.folded = True
        self.refold()

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
            return [undone(line) for line in piece.draw(width)]

        margin = (*self.margin, *_GUIDE)
        return Piece(draw, gap=piece.gap, guess=piece.height - piece.gap, margin=margin)

    def piece_of_checkpoint(self, checkpoint_id: int) -> int:
        """Which of its pieces, when it is unfolded, shows what came after a checkpoint that was undone."""
        before = self.undone[: self.checkpoints[checkpoint_id]]
        return min(1 + sum(len(block.pieces) for block in before), len(self.pieces) - 1)

    def source(self) -> str:
        """What happened, in words."""
        return self._words()

    def full_text(self) -> str:
        """What happened, to which files, and what was undone."""
        event = self._event
        told = [self._words()]
        if event.note:
            told.append(say("the model reads this with your next prompt: {note}", note=plain(event.note)))
        for words, paths in ((say("Changed:"), event.files), (say("Left as they are:"), event.kept)):
            if paths:
                told.append("\n".join([words, *(f"  {plain_line(path)}" for path in paths)]))
        return "\n\n".join([*told, *(block.full_text() for block in self.undone)])

    def searched(self) -> str:
        """What happened; what was undone is not searched."""
        return self._words()

    @property
    def title(self) -> str:
        """What happened, in words."""
        return self._words()

    def _words(self) -> str:
        event, count, kept = self._event, len(self._event.files), len(self._event.kept)
        files = say_many(", {count:,} file changed", ", {count:,} files changed", count) if count else ""
        if kept and count:
            files += say_many(", {count:,} left as it is", ", {count:,} left as they are", kept)
        elif kept:
            files = say_many(", {count:,} file left as it is", ", {count:,} files left as they are", kept)
        if event.scope == "turn":
            words = say("took back what was done to files from checkpoint {number} on", number=event.to)
        elif event.scope == "files" and event.reason == "user":
            words = say("files went back to checkpoint {number}, the conversation stays", number=event.to)
        else:
            words = say(_WORDS[event.reason], number=event.to)
        return f"↶ {words}{files}"

    def _lines(self, width: int) -> list[Line]:
        words = [(self._words(), ink("waiting"))]
        if self._n_undone:
            what = say_many("{count:,} block undone", "{count:,} blocks undone", self._n_undone)
            fold = "·" if not self.undone else "▸" if self.folded else "▾"
            words.append((f" {fold} {what}", ink("dim")))
        lines = rule(words, width)
        if note := plain_line(self._event.note):
            told = say("the model reads this with your next prompt: {note}", note=note)
            lines.append(Line(truncated([("    ✉ ", ink("waiting")), (told, ink("dim"))], width)))
        if self._event.kept:
            paths = ", ".join(map(plain_line, self._event.kept[:_NAMED]))
            told = say("left as they are: {paths}", paths=paths)
            lines.append(Line(truncated([("    ", ink()), (told, ink("dim"))], width)))
        if self.is_latest and (hint := _HINTS.get(self._event.reason)):
            below = (("    ", ink()),)
            lines += wrap([(say(hint), Ink(("dim",), self.hint_link))], width, first=below, rest=below)
        return lines

    @property
    def hint_link(self) -> str:
        """What a click on the hint means: the command that it names."""
        return "/redo" if self._event.reason == "undo" else "/undo"

    def grow_old(self) -> None:
        """Another jump has followed."""
        self.is_latest = False
        self._head.redraw()
