"""What the assistant said: Markdown that may still be arriving."""

from functools import partial

from kimi_tui.base.terminal import plain
from kimi_tui.language.saying import later, say
from kimi_tui.tui.markdown.code import code_lines, growing_code_lines
from kimi_tui.tui.markdown.layout import continued_table_lines, markdown_lines
from kimi_tui.tui.markdown.line import PLAIN, Line, Spans
from kimi_tui.tui.markdown.parts import Part, Parts
from kimi_tui.tui.markdown.syntax import GrowingCode
from kimi_tui.tui.transcript.blocks.block import Block, guessed_rows
from kimi_tui.tui.transcript.piece import Draw, Piece


class AnswerBlock(Block):
    """An answer, one piece for each closed part of its Markdown and one for what is still open."""

    label = later("answer")

    def __init__(self, *, margin: Spans = ()) -> None:
        super().__init__(margin=margin)
        self._text: list[str] = []
        self._parts = Parts()
        self._open: Piece | None = None
        self._shown: Part | None = None
        self._growing = GrowingCode()

    def feed(self, text: str) -> None:
        """More of the answer has come."""
        self._text.append(text)
        self._parts.feed(plain(text))

    def finish(self) -> None:
        """The answer is complete."""
        self.source()  # the words that came one by one would take ten times the room of the text
        self._parts.finish()
        self.refresh()

    def refresh(self) -> None:
        """Bring the pieces up to what has been fed."""
        for part in self._parts.closed:
            self._close(part)
        self._parts.closed.clear()
        self._show_open(self._parts.open)

    def source(self) -> str:
        """The Markdown as it came."""
        if len(self._text) > 1:
            self._text = ["".join(self._text)]
        return self._text[0] if self._text else ""

    @property
    def title(self) -> str:
        """The first words."""
        words = self.source().strip()
        return say("answer: {words}", words=words.splitlines()[0] if words else "")

    def _close(self, part: Part) -> None:
        if self._open is None:
            self.pieces.append(self._new_piece(part))
            return
        # The piece on the screen becomes the closed part; if it shows just that, nothing is laid out again.
        if part != self._shown or part.kind == "code":
            self._set(self._open, part, _draw(part))
        self._open = self._shown = None

    def _show_open(self, part: Part | None) -> None:
        if part is None:
            if self._open is not None:
                self.pieces.remove(self._open)
                self._open = self._shown = None
        elif self._open is None:
            self._open, self._shown = self._new_piece(part), part
            self._growing = GrowingCode()
            self.pieces.append(self._open)
        elif part != self._shown:
            self._set(self._open, part, self._draw_open(part))
            self._shown = part

    def _new_piece(self, part: Part) -> Piece:
        gap = self.head_gap if not self.pieces else int(part.gap)
        piece = self.piece(_draw(part), gap=gap, guess=guessed_rows(part.source))
        piece.margin = self._margin_of(part)
        return piece

    def _set(self, piece: Piece, part: Part, draw: Draw) -> None:
        piece.gap = self.head_gap if piece is self.pieces[0] else int(part.gap)
        piece.margin = self._margin_of(part)
        piece.redraw(draw)

    def _margin_of(self, part: Part) -> Spans:
        return (*self.margin, (" " * part.indent, PLAIN)) if part.indent else self.margin

    def _draw_open(self, part: Part) -> Draw:
        if part.kind == "code":
            return partial(growing_code_lines, self._growing, part.source, part.language)
        return _draw(part)


def _draw(part: Part) -> Draw:
    return partial(_lines, part)


def _lines(part: Part, width: int) -> list[Line]:
    match part.kind:
        case "code":
            return code_lines(part.source, part.language, width, context=part.context)
        case "table" if part.context:
            return continued_table_lines(part.source, part.context, width)
        case "table" | "text":
            return markdown_lines(part.source, width)
