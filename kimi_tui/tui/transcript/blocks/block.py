"""What all blocks have in common."""

from collections.abc import Callable
from typing import Protocol

from kimi_tui.base.terminal import plain
from kimi_tui.language.saying import later, say
from kimi_tui.tui.markdown.line import Ink, Line, Spans
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.transcript.piece import Piece

Clock = Callable[[], float]
"""Seconds that only grow."""


class Home(Protocol):
    """What a block stands in."""

    height: int


class Block:
    """One thing of the conversation: data, and the pieces that show it.

    A block changes itself and answers True when its owner has to count its rows anew and draw it.
    """

    stacks = False
    """Whether it stands directly below a block of its kind, without a blank row between them."""
    is_all_head = False
    """Whether all of its first piece is its head, not only the first row."""
    label = later("block")
    """What it is, in an English word."""

    def __init__(self, *, margin: Spans = ()) -> None:
        self.margin = margin
        """What stands left of every row: the guides of the sub-agents around it."""
        self.pieces: list[Piece] = []
        self.chapter: Home | None = None
        self.counted = 0
        """The rows that its chapter has counted for it."""
        self.folded = True
        self.above: bool = True
        """Whether a blank row stands above it."""

    @property
    def foldable(self) -> bool:
        """Whether folding changes what is seen."""
        return False

    def toggle(self) -> bool:
        """Fold or unfold. False when there is nothing to fold."""
        if not self.foldable:
            return False
        self.folded = not self.folded
        self.refold()
        return True

    def refold(self) -> None:
        """Make the pieces fit `folded`."""

    def source(self) -> str:
        """What copying the block gives: Markdown where it is Markdown."""
        raise NotImplementedError

    def full_text(self) -> str:
        """Everything there is to read of it, for a pager."""
        return self.source()

    def searched(self) -> str:
        """What a search looks through."""
        return self.source()

    @property
    def title(self) -> str:
        """One line that names it."""
        return say(self.label)

    def piece(self, draw: Callable[[int], list[Line]], *, gap: int = 0, guess: int = 1) -> Piece:
        """A piece of this block."""
        return Piece(draw, gap=gap, guess=guess, margin=self.margin)

    @property
    def head_gap(self) -> int:
        """Blank rows above the first piece."""
        return 1 if self.above else 0


class SinglePieceBlock(Block):
    """A block whose rows are laid out together."""

    def __init__(self, *, margin: Spans = (), guess: int = 1) -> None:
        super().__init__(margin=margin)
        self.pieces = [self.piece(self.lines, gap=1, guess=guess)]

    def lines(self, width: int) -> list[Line]:
        """Its rows at `width` cells."""
        raise NotImplementedError

    def refold(self) -> None:
        """Lay it out again."""
        self.redraw()

    def redraw(self) -> None:
        """What it shows has changed."""
        self.pieces[0].gap = self.head_gap
        self.pieces[0].redraw()


def prose(text: str, width: int, style: Ink, *, margin: Spans = ()) -> list[Line]:
    """`text` as it is, wrapped, its line breaks and indentation kept."""
    lines: list[Line] = []
    for line in plain(text).expandtabs(4).split("\n"):
        lines += wrap([(line, style)], width, first=margin, rest=margin)
    return lines


def guessed_rows(text: str, *, columns: int = 80) -> int:
    """About how many rows `text` takes, without looking at its words."""
    return text.count("\n") + len(text) // columns + 1


def seconds(duration: float) -> str:
    """A duration in words as short as they get: `0.1 s`, `12 s`, `2 m 05 s`, `1 h 04 m`."""
    return f"{duration:.1f} s" if duration < 9.95 else whole_seconds(duration)


def whole_seconds(duration: float) -> str:
    """A duration without fractions: `3 s`, `2 m 05 s`."""
    whole = round(duration)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} m"


def tokens(count: int) -> str:
    """A number of tokens in words as short as they get: `950`, `12.4k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k".replace(".0k", "k")
    return f"{count / 1_000_000:.1f}M".replace(".0M", "M")
