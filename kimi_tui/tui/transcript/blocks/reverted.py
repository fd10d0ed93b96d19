"""Block that marks a revert and holds the undone blocks."""

from collections.abc import Mapping, Sequence

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.text.timeline import restore_saved_command, saved_versions_text
from kimi_tui.i18n.translate import tr, tr_lazy, tr_n
from kimi_tui.tui.markdown.styled_line import Spans, StyledLine, TextStyle, text_style
from kimi_tui.tui.markdown.wrap import truncate, wrap
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.rule import BELOW, render_rule
from kimi_tui.tui.transcript.render_cache import Piece, dim_undone
from kimi_tui.wire.events import Reverted, RevertReason

_MESSAGES: dict[RevertReason, str] = {
    "user": tr_lazy("Reverted to checkpoint {number}"),
    "dmail": tr_lazy("D-Mail: reverted to checkpoint {number}"),
    "undo": tr_lazy("Revert undone: checkpoint {number}"),
    "redo": tr_lazy("Revert redone: checkpoint {number}"),
    "switch": tr_lazy("Switched to checkpoint {number}"),
    "compaction": tr_lazy("Compacted up to checkpoint {number}"),
    "clear": tr_lazy("Conversation cleared"),
    "adopt": tr_lazy("Attempt adopted"),
}
_UNDO_HINT = tr_lazy("Undo with /undo, or with u in the timeline")
_HINTS: dict[RevertReason, str] = {
    "user": _UNDO_HINT,
    "undo": tr_lazy("Redo with /redo, or with U in the timeline"),
    "redo": _UNDO_HINT,
    "switch": _UNDO_HINT,
    "clear": _UNDO_HINT,
    "adopt": _UNDO_HINT,
}
_MAX_NAMED_FILES = 20
"""Maximum number of kept files to list. A short row lists fewer files."""
_GUIDE: Spans = (("┆ ", text_style("guide")),)


class RevertedBlock(Block):
    """Rule with a description of the revert. Unfolded, it shows the undone blocks."""

    label = tr_lazy("revert")
    is_all_head = True

    def __init__(
        self,
        event: Reverted,
        undone_blocks: Sequence[Block],
        *,
        checkpoints: Mapping[int, int] | None = None,
        margin: Spans = (),
    ) -> None:
        """`checkpoints` maps the id of each undone checkpoint to the number of `undone_blocks` before it."""
        super().__init__(margin=margin)
        self._event = event
        self.undone_blocks = tuple(undone_blocks)
        self._undone_count = len(self.undone_blocks)
        self.checkpoints = checkpoints or {}
        self.is_latest = True
        """Whether `/undo` would undo this revert."""
        self._head = self.create_piece(self._lines, gap=1)
        self.pieces = [self._head]

    @property
    def is_foldable(self) -> bool:
        """Whether there are undone blocks to show."""
        return bool(self.undone_blocks)

    @property
    def is_clear(self) -> bool:
        """Whether the conversation was cleared."""
        return self._event.reason == "clear"

    @property
    def block_count(self) -> int:
        """Number of undone blocks, including those of nested markers."""
        return sum(
            1 + (block.block_count if isinstance(block, RevertedBlock) else 0) for block in self.undone_blocks
        )

    def release_undone(self) -> None:
        """Drop the undone blocks to free memory. The timeline still has them."""
        self.undone_blocks, self.checkpoints = (), {}
        self.is_folded = True
        self.refold()

    def refold(self) -> None:
        """Show or hide the undone blocks."""
        self._head.gap = self.head_gap
        self._head.redraw()
        self.pieces = [self._head]
        if not self.is_folded:
            for block in self.undone_blocks:
                self.pieces += [self._dim_piece(piece) for piece in block.pieces]

    def _dim_piece(self, piece: Piece) -> Piece:
        def draw(width: int) -> list[StyledLine]:
            return [dim_undone(line) for line in piece.draw(width)]

        margin = (*self.margin, *_GUIDE)
        return Piece(draw, gap=piece.gap, guess=piece.height - piece.gap, margin=margin)

    def piece_of_checkpoint(self, checkpoint_id: int) -> int:
        """Return the index of the first piece after an undone checkpoint. The block must be unfolded."""
        before = self.undone_blocks[: self.checkpoints[checkpoint_id]]
        return min(1 + sum(len(block.pieces) for block in before), len(self.pieces) - 1)

    def source(self) -> str:
        """Return the description of the revert."""
        return self._message()

    def full_text(self) -> str:
        """Return the description, the files, and the undone blocks."""
        event = self._event
        paragraphs = [self._message()]
        if event.note:
            paragraphs.append(
                tr("Sent to the model with your next prompt: {note}", note=sanitize(event.note))
            )
        for heading, paths in ((tr("Changed:"), event.files), (tr("Kept:"), event.kept)):
            if paths:
                paragraphs.append("\n".join([heading, *(f"  {sanitize_line(path)}" for path in paths)]))
        if saved := saved_versions_text(event):
            paragraphs.append(saved)
        return "\n\n".join([*paragraphs, *(block.full_text() for block in self.undone_blocks)])

    def search_text(self) -> str:
        """Return the description; undone blocks aren't searched."""
        return self._message()

    @property
    def title(self) -> str:
        """Description of the revert."""
        return self._message()

    def _message(self) -> str:
        event, count, kept = self._event, len(self._event.files), len(self._event.kept)
        files = tr_n(", {count:,} file changed", ", {count:,} files changed", count) if count else ""
        if kept and count:
            files += tr(", {count:,} kept", count=kept)
        elif kept:
            files = tr_n(", {count:,} file kept", ", {count:,} files kept", kept)
        if event.scope == "turn":
            message = tr("Reverted file changes of the turn at checkpoint {number}", number=event.to)
        elif event.scope == "files" and event.reason == "user":
            message = tr("Files reverted to checkpoint {number}, conversation kept", number=event.to)
        else:
            message = tr(_MESSAGES[event.reason], number=event.to)
        return f"↶ {message}{files}"

    def _lines(self, width: int) -> list[StyledLine]:
        lines = self._head_lines(width)
        if note := sanitize_line(self._event.note):
            text = tr("Sent to the model with your next prompt: {note}", note=note)
            lines.append(
                StyledLine(truncate([("    ✉ ", text_style("waiting")), (text, text_style("dim"))], width))
            )
        if self._event.kept:
            paths = ", ".join(map(sanitize_line, self._event.kept[:_MAX_NAMED_FILES]))
            text = tr("Kept: {paths}", paths=paths)
            lines.append(StyledLine(truncate([("    ", text_style()), (text, text_style("dim"))], width)))
        if saved := saved_versions_text(self._event):
            below = (("    ", text_style()),)
            link = self._restore_link()
            lines += wrap([(saved, TextStyle(("dim",), link))], width, first=below, rest=below)
        if self.is_latest and (hint := _HINTS.get(self._event.reason)):
            below = (("    ", text_style()),)
            lines += wrap([(tr(hint), TextStyle(("dim",), self.hint_link))], width, first=below, rest=below)
        return lines

    def _restore_link(self) -> str:
        """Return the command to run when the user clicks the saved versions."""
        if len(self._event.saved) == 1:
            return restore_saved_command(self._event)
        return f"/revert {self._event.from_} files"

    def _head_lines(self, width: int) -> list[StyledLine]:
        """Return the description and the number of removed blocks, on one line if both fit."""
        message = (self._message(), text_style("waiting"))
        if not self._undone_count:
            return render_rule([message], width)
        undone_text = tr_n("{count:,} block removed", "{count:,} blocks removed", self._undone_count)
        fold_sign = "·" if not self.undone_blocks else "▸" if self.is_folded else "▾"
        undone = (f"{fold_sign} {undone_text}", text_style("dim"))
        lines = render_rule([message, (" ", text_style()), undone], width)
        if len(lines) == 1:
            return lines
        return render_rule([message], width) + wrap([undone], width, first=(BELOW,), rest=(BELOW,))

    @property
    def hint_link(self) -> str:
        """Command that the hint runs when clicked."""
        return "/redo" if self._event.reason == "undo" else "/undo"

    def mark_superseded(self) -> None:
        """Remove the hint, because another revert has followed."""
        self.is_latest = False
        self._head.redraw()
