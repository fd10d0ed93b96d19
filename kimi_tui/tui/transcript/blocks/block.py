"""Base classes and helpers for blocks."""

from collections.abc import Callable
from typing import Protocol

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.markdown.styled_line import Spans, StyledLine, TextStyle, span_width
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.transcript.render_cache import Piece

_MAX_INDENT_SHARE = 3
"""Wrapped rows keep an indentation of up to 1/3 of the width. A deeper indentation is dropped."""


class BlockContainer(Protocol):
    """Section that contains a block."""

    height: int


class Block:
    """Item of the conversation: its data, and the pieces that show it.

    After a method has changed the pieces, the owner must measure and draw the block again.
    """

    is_stackable = False
    """Whether adjacent blocks of this kind are shown without a blank row between them."""
    is_all_head = False
    """Whether the head is the whole first piece instead of its first row."""
    label = tr_lazy("block")
    """Short name of this kind of block."""

    def __init__(self, *, margin: Spans = ()) -> None:
        self.margin = margin
        """Prefix of every row: the vertical guides of the enclosing sub-agents."""
        self.pieces: list[Piece] = []
        self.section: BlockContainer | None = None
        self.counted_rows = 0
        """Rows counted for this block in its section's height."""
        self.is_folded = True
        self.has_gap_above: bool = True
        """Whether a blank row is above the block."""

    @property
    def is_foldable(self) -> bool:
        """Whether the block has anything to fold."""
        return False

    def toggle(self) -> bool:
        """Fold or unfold. Return False if the block isn't foldable."""
        if not self.is_foldable:
            return False
        self.is_folded = not self.is_folded
        self.refold()
        return True

    def refold(self) -> None:
        """Rebuild the pieces according to `is_folded`."""

    def source(self) -> str:
        """Return the text to copy. Markdown if the block shows Markdown."""
        raise NotImplementedError

    def full_text(self) -> str:
        """Return the complete text for a pager."""
        return self.source()

    def search_text(self) -> str:
        """Return the text to search."""
        return self.source()

    @property
    def title(self) -> str:
        """One-line title."""
        return tr(self.label)

    def create_piece(self, draw: Callable[[int], list[StyledLine]], *, gap: int = 0, guess: int = 1) -> Piece:
        """Return a piece with this block's margin."""
        return Piece(draw, gap=gap, guess=guess, margin=self.margin)

    @property
    def head_gap(self) -> int:
        """Blank rows above the first piece."""
        return 1 if self.has_gap_above else 0


class SinglePieceBlock(Block):
    """Block whose rows are laid out together."""

    def __init__(self, *, margin: Spans = (), guess: int = 1) -> None:
        super().__init__(margin=margin)
        self.pieces = [self.create_piece(self.lines, gap=1, guess=guess)]

    def lines(self, width: int) -> list[StyledLine]:
        """Return the rows at `width` cells."""
        raise NotImplementedError

    def refold(self) -> None:
        """Lay out the block again."""
        self.redraw()

    def redraw(self) -> None:
        """Invalidate the rows after a change."""
        self.pieces[0].gap = self.head_gap
        self.pieces[0].redraw()


def wrap_text(text: str, width: int, style: TextStyle, *, margin: Spans = ()) -> list[StyledLine]:
    """Return `text` wrapped. Line breaks are preserved. All rows of a line have the line's indentation."""
    lines: list[StyledLine] = []
    for line in sanitize(text).expandtabs(4).split("\n"):
        spans: Spans = ((line, style),)
        indent = len(line) - len(line.lstrip(" "))
        is_wrapped = span_width(spans) + span_width(margin) > width
        is_indented = is_wrapped and 0 < indent <= width // _MAX_INDENT_SHARE
        rest = (*margin, (" " * indent, style)) if is_indented else margin
        lines += wrap(spans, width, first=margin, rest=rest)
    return lines


def estimate_rows(text: str, *, columns: int = 80) -> int:
    """Return the estimated number of rows of `text`, without wrapping the text."""
    return text.count("\n") + len(text) // columns + 1


def format_seconds(duration: float) -> str:
    """Return a duration such as `0.1 s`, `12 s`, `2 m 05 s` or `1 h 04 m`."""
    return f"{duration:.1f} s" if duration < 9.95 else format_whole_seconds(duration)


def format_whole_seconds(duration: float) -> str:
    """Return a duration without fractions, such as `3 s` or `2 m 05 s`."""
    seconds = round(duration)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} m {seconds % 60:02} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02} m"


def format_tokens(count: int) -> str:
    """Return a number of tokens such as `950`, `12.4k` or `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k".replace(".0k", "k")
    return f"{count / 1_000_000:.1f}M".replace(".0M", "M")
