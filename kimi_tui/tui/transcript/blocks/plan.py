"""A plan, as Markdown under the path of its file."""

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import later, say
from kimi_tui.tui.markdown.layout import markdown_lines
from kimi_tui.tui.markdown.line import Line, Spans, ink
from kimi_tui.tui.markdown.wrap import truncated
from kimi_tui.tui.transcript.blocks.block import SinglePieceBlock, guessed_rows

_BAR: Spans = (("▎ ", ink("guide")),)


class PlanBlock(SinglePieceBlock):
    """A plan to look at before it is carried out."""

    label = later("plan")

    def __init__(self, content: str, path: str, *, margin: Spans = ()) -> None:
        self._content = plain(content)
        self._path = plain_line(path)
        super().__init__(margin=margin, guess=1 + guessed_rows(content))

    def lines(self, width: int) -> list[Line]:
        """The plan behind a bar, under its path."""
        head = [(f"{say('plan')} ", ink("tool-name")), (self._path, ink("dim"))]
        return [
            Line((*_BAR, *truncated(head, max(2, width - 2)))),
            *(line.indented(_BAR) for line in markdown_lines(self._content, width - 2)),
        ]

    def source(self) -> str:
        """The plan's Markdown."""
        return self._content
