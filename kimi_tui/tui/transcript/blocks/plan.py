"""Markdown under a heading of the program's own: a plan, a side question with its answer."""

from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.tui.markdown.layout import markdown_lines
from kimi_tui.tui.markdown.line import Line, Spans, ink
from kimi_tui.tui.markdown.wrap import truncated
from kimi_tui.tui.transcript.blocks.block import SinglePieceBlock, guessed_rows, prose

_BAR: Spans = (("▎ ", ink("guide")),)


class PlanBlock(SinglePieceBlock):
    """A plan to look at before it is carried out."""

    label = "plan"

    def __init__(self, content: str, path: str, *, margin: Spans = ()) -> None:
        self._content = plain(content)
        self._path = plain_line(path)
        super().__init__(margin=margin, guess=1 + guessed_rows(content))

    def lines(self, width: int) -> list[Line]:
        """The plan behind a bar, under its path."""
        head = [("plan ", ink("tool-name")), (self._path, ink("dim"))]
        return [
            Line((*_BAR, *truncated(head, max(2, width - 2)))),
            *(line.indented(_BAR) for line in markdown_lines(self._content, width - 2)),
        ]

    def source(self) -> str:
        """The plan's Markdown."""
        return self._content


class SideQuestionBlock(SinglePieceBlock):
    """A question beside the conversation, and its answer."""

    label = "side question"

    def __init__(self, question: str, *, margin: Spans = ()) -> None:
        self._question = plain(question)
        self._answer: str | None = None
        self._error: str | None = None
        super().__init__(margin=margin, guess=guessed_rows(question))

    def finish(self, response: str | None, error: str | None) -> None:
        """It was answered, or not."""
        self._answer = plain(response) if response is not None else None
        self._error = plain(error) if error is not None else None
        self.redraw()

    def lines(self, width: int) -> list[Line]:
        """The question, then the answer, behind a bar."""
        lines = prose(f"by the way: {self._question}", width, ink("dim"), margin=_BAR)
        if self._error is not None:
            lines += prose(self._error, width, ink("failed"), margin=_BAR)
        elif self._answer is not None:
            lines += [line.indented(_BAR) for line in markdown_lines(self._answer, width - 2)]
        return lines

    def source(self) -> str:
        """Question and answer."""
        return "\n\n".join(filter(None, (self._question, self._answer, self._error)))
