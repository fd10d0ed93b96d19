"""Block for a response of the model, possibly still streaming."""

from functools import partial

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.markdown.code_block import code_lines, streaming_code_lines
from kimi_tui.tui.markdown.incremental import IncrementalParser, MarkdownPart
from kimi_tui.tui.markdown.layout import markdown_lines, table_continuation_lines
from kimi_tui.tui.markdown.styled_line import PLAIN, Spans, StyledLine
from kimi_tui.tui.markdown.syntax import IncrementalHighlighter
from kimi_tui.tui.transcript.blocks.block import Block, estimate_rows
from kimi_tui.tui.transcript.render_cache import Draw, Piece


class ResponseBlock(Block):
    """Response of the model, with a piece for each closed part of its Markdown and for the open part."""

    label = tr_lazy("response")

    def __init__(self, *, margin: Spans = ()) -> None:
        super().__init__(margin=margin)
        self._text: list[str] = []
        self._parser = IncrementalParser()
        self._open_piece: Piece | None = None
        self._shown_part: MarkdownPart | None = None
        self._highlighter = IncrementalHighlighter()

    def feed(self, text: str) -> None:
        """Add text to the response."""
        self._text.append(text)
        self._parser.feed(sanitize(text))

    def finish(self) -> None:
        """Close the response."""
        self.source()  # join the fragments, which take ten times the memory of the text
        self._parser.finish()
        self.refresh()

    def refresh(self) -> None:
        """Update the pieces with the text fed so far."""
        for part in self._parser.closed_parts:
            self._close_part(part)
        self._parser.closed_parts.clear()
        self._show_open_part(self._parser.open_part)

    def source(self) -> str:
        """Return the Markdown as received."""
        if len(self._text) > 1:
            self._text = ["".join(self._text)]
        return self._text[0] if self._text else ""

    @property
    def title(self) -> str:
        """Label with the first line."""
        text = self.source().strip()
        return tr("response: {text}", text=text.splitlines()[0] if text else "")

    def _close_part(self, part: MarkdownPart) -> None:
        if self._open_piece is None:
            self.pieces.append(self._create_part_piece(part))
            return
        # The open piece becomes the closed part. If it already shows that part, its layout is reused.
        if part != self._shown_part or part.kind == "code":
            self._update_piece(self._open_piece, part, _part_renderer(part))
        self._open_piece = self._shown_part = None

    def _show_open_part(self, part: MarkdownPart | None) -> None:
        if part is None:
            if self._open_piece is not None:
                self.pieces.remove(self._open_piece)
                self._open_piece = self._shown_part = None
        elif self._open_piece is None:
            self._open_piece, self._shown_part = self._create_part_piece(part), part
            self._highlighter = IncrementalHighlighter()
            self.pieces.append(self._open_piece)
        elif part != self._shown_part:
            self._update_piece(self._open_piece, part, self._open_part_renderer(part))
            self._shown_part = part

    def _create_part_piece(self, part: MarkdownPart) -> Piece:
        gap = self.head_gap if not self.pieces else int(part.gap)
        piece = self.create_piece(_part_renderer(part), gap=gap, guess=estimate_rows(part.source))
        piece.margin = self._margin_of(part)
        return piece

    def _update_piece(self, piece: Piece, part: MarkdownPart, draw: Draw) -> None:
        piece.gap = self.head_gap if piece is self.pieces[0] else int(part.gap)
        piece.margin = self._margin_of(part)
        piece.redraw(draw)

    def _margin_of(self, part: MarkdownPart) -> Spans:
        return (*self.margin, (" " * part.indent, PLAIN)) if part.indent else self.margin

    def _open_part_renderer(self, part: MarkdownPart) -> Draw:
        if part.kind == "code":
            return partial(streaming_code_lines, self._highlighter, part.source, part.language)
        return _part_renderer(part)


def _part_renderer(part: MarkdownPart) -> Draw:
    return partial(_render_part, part)


def _render_part(part: MarkdownPart, width: int) -> list[StyledLine]:
    match part.kind:
        case "code":
            return code_lines(part.source, part.language, width, context=part.context)
        case "table" if part.context:
            return table_continuation_lines(part.source, part.context, width)
        case "table" | "text":
            return markdown_lines(part.source, width)
