"""Block for the model's thinking, folded to one line unless it's shown in full."""

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.startup_settings import ThinkingDisplay
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.markdown.styled_line import Span, Spans, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import truncate
from kimi_tui.tui.transcript.blocks.block import SinglePieceBlock, format_seconds, wrap_text
from kimi_tui.tui.transcript.stopwatch import Stopwatch

_PREVIEW_CHARS = 400
"""Number of characters at the end of running thinking that the one-line preview is taken from."""


class ThinkingBlock(SinglePieceBlock):
    """The model's thinking. Shown as `▸ thought for 3 s` once it has ended."""

    label = tr_lazy("thinking")

    def __init__(
        self, stopwatch: Stopwatch, *, display: ThinkingDisplay = "preview", margin: Spans = ()
    ) -> None:
        super().__init__(margin=margin)
        self.is_folded = display != "full"
        self._has_preview = display == "preview"
        self._fragments: list[str] = []
        self._latest = ""
        self._stopwatch = stopwatch
        self.duration: float | None = None
        """Duration in seconds. None while thinking runs, and in history."""
        self.is_running = True

    def feed(self, text: str) -> None:
        """Add text to the thinking."""
        self._fragments.append(text)
        self._latest = (self._latest + text)[-_PREVIEW_CHARS:]
        self.redraw()

    def finish(self) -> None:
        """Close the block."""
        if not self.is_running:
            return
        self.is_running = False
        self._latest = ""
        self.source()  # join the fragments, which take ten times the memory of the text
        self.duration = self._stopwatch.duration
        self.redraw()

    @property
    def is_foldable(self) -> bool:
        """Whether there is text to unfold."""
        return bool(self._fragments)

    def source(self) -> str:
        """Return the text."""
        if len(self._fragments) > 1:
            self._fragments = ["".join(self._fragments)]
        return self._fragments[0] if self._fragments else ""

    def lines(self, width: int) -> list[StyledLine]:
        """Return one row, and the full text if unfolded."""
        style = text_style("thinking")
        head: list[Span] = [("▸ " if self.is_folded else "▾ ", style), (self._summary(), style)]
        if self.is_running and self.is_folded and self._has_preview:
            latest = sanitize_line(self._latest).rpartition(". ")[2]
            head.append((f"  {latest}", text_style("thinking", "dim")))
        lines = [StyledLine(truncate(head, width))]
        if not self.is_folded:
            lines += wrap_text(self.source().strip(), width, style, margin=(("  ", style),))
        return lines

    def _summary(self) -> str:
        if self.is_running:
            return tr("thinking")
        if self.duration is None or self.duration < 0.05:
            return tr("thought")
        return tr("thought for {time}", time=format_seconds(self.duration))
