"""What the model thought, folded to one line."""

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, say
from kimi_tui.tui.markdown.line import Line, Span, Spans, ink
from kimi_tui.tui.markdown.wrap import truncated
from kimi_tui.tui.transcript.blocks.block import Clock, SinglePieceBlock, prose, seconds

_TICKER = 400
"""Characters at the end of a running thought that its one line is taken from."""


class ThinkingBlock(SinglePieceBlock):
    """Thinking; `▸ thought for 3 s` once it is over."""

    label = later("thinking")

    def __init__(self, clock: Clock | None = None, *, margin: Spans = ()) -> None:
        super().__init__(margin=margin)
        self._fragments: list[str] = []
        self._latest = ""
        self._clock = clock
        self._began = clock() if clock is not None else 0.0
        self.duration: float | None = None
        """Seconds; None while it runs, and when nobody watched it."""
        self.running = True

    def feed(self, text: str) -> None:
        """More of the thought has come."""
        self._fragments.append(text)
        self._latest = (self._latest + text)[-_TICKER:]
        self.redraw()

    def finish(self) -> None:
        """The thought is over."""
        if not self.running:
            return
        self.running = False
        self._latest = ""
        self.source()  # the words that came one by one would take ten times the room of the text
        if self._clock is not None:
            self.duration = self._clock() - self._began
        self.redraw()

    @property
    def foldable(self) -> bool:
        """Always, if there is a word of it."""
        return bool(self._fragments)

    def source(self) -> str:
        """The thought."""
        if len(self._fragments) > 1:
            self._fragments = ["".join(self._fragments)]
        return self._fragments[0] if self._fragments else ""

    def lines(self, width: int) -> list[Line]:
        """One line, and all of it when unfolded."""
        style = ink("thinking")
        head: list[Span] = [("▸ " if self.folded else "▾ ", style), (self._summary(), style)]
        if self.running and self.folded:
            latest = plain_line(self._latest).rpartition(". ")[2]
            head.append((f"  {latest}", ink("thinking", "dim")))
        lines = [Line(truncated(head, width))]
        if not self.folded:
            lines += prose(self.source().strip(), width, style, margin=(("  ", style),))
        return lines

    def _summary(self) -> str:
        if self.running:
            return say("thinking")
        if self.duration is None or self.duration < 0.05:
            return say("thought")
        return say("thought for {time}", time=seconds(self.duration))
