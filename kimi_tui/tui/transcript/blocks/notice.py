"""What the program says: notes, warnings, errors, and that the context was compacted."""

from typing import Literal

from kimi_tui.base.terminal import plain
from kimi_tui.language.saying import later
from kimi_tui.tui.markdown.line import Line, Spans, ink
from kimi_tui.tui.transcript.blocks.block import SinglePieceBlock, guessed_rows, prose
from kimi_tui.tui.transcript.blocks.rule import rule

Severity = Literal["info", "warning", "error"]

_GLYPHS = {"info": "ℹ", "warning": "⚠", "error": "✗"}


class NoticeBlock(SinglePieceBlock):
    """A sentence of what happened, and perhaps one of what to do."""

    label = later("notice")

    def __init__(self, severity: Severity, what: str, hint: str = "", *, margin: Spans = ()) -> None:
        self.severity = severity
        self.what = what
        self.hint = hint
        super().__init__(margin=margin, guess=guessed_rows(what + hint))

    def lines(self, width: int) -> list[Line]:
        """The sentences behind a sign of how bad it is."""
        role = {"info": "info", "warning": "waiting", "error": "failed"}[self.severity]
        blank: Spans = (("  ", ink()),)
        lines = prose(self.what, width, ink("dim" if self.severity == "info" else role), margin=blank)
        lines[0] = Line(((f"{_GLYPHS[self.severity]} ", ink(role)), *lines[0].spans[1:]))
        if self.hint:
            lines += prose(self.hint, width, ink("dim"), margin=blank)
        return lines

    def source(self) -> str:
        """The sentences."""
        return "\n".join(filter(None, (plain(self.what), plain(self.hint))))


class RuleBlock(SinglePieceBlock):
    """A line across the conversation with a few words in it."""

    label = later("mark")

    def __init__(self, words: str, *, margin: Spans = ()) -> None:
        self.words = words
        super().__init__(margin=margin)

    def lines(self, width: int) -> list[Line]:
        """The words between two rules."""
        return rule([(self.words, ink("dim"))], width)

    def source(self) -> str:
        """The words."""
        return self.words
