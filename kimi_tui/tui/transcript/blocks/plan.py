"""Block for a plan in Markdown."""

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.markdown.layout import markdown_lines
from kimi_tui.tui.markdown.styled_line import Spans, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import truncate
from kimi_tui.tui.transcript.blocks.block import SinglePieceBlock, estimate_rows

_BAR: Spans = (("▎ ", text_style("guide")),)


class PlanBlock(SinglePieceBlock):
    """Plan shown for approval."""

    label = tr_lazy("plan")

    def __init__(self, content: str, path: str, *, margin: Spans = ()) -> None:
        self._content = sanitize(content)
        self._path = sanitize_line(path)
        super().__init__(margin=margin, guess=1 + estimate_rows(content))

    def lines(self, width: int) -> list[StyledLine]:
        """Return the plan with a bar on the left, below the path of its file."""
        head = [(f"{tr('plan')} ", text_style("tool-name")), (self._path, text_style("dim"))]
        return [
            StyledLine((*_BAR, *truncate(head, max(2, width - 2)))),
            *(line.indent(_BAR) for line in markdown_lines(self._content, width - 2)),
        ]

    def source(self) -> str:
        """Return the plan's Markdown."""
        return self._content
