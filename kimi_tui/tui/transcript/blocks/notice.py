"""Blocks for the program's own messages: notices and dividers."""

from typing import Literal

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.i18n.translate import tr_lazy
from kimi_tui.tui.markdown.styled_line import Spans, StyledLine, text_style
from kimi_tui.tui.transcript.blocks.block import SinglePieceBlock, estimate_rows, wrap_text
from kimi_tui.tui.transcript.blocks.rule import render_rule

Severity = Literal["info", "warning", "error"]

_GLYPHS = {"info": "ℹ", "warning": "⚠", "error": "✗"}


class NoticeBlock(SinglePieceBlock):
    """Message about an event, with an optional hint."""

    label = tr_lazy("notice")

    def __init__(self, severity: Severity, message: str, hint: str = "", *, margin: Spans = ()) -> None:
        self.severity = severity
        self.message = message
        self.hint = hint
        super().__init__(margin=margin, guess=estimate_rows(message + hint))

    def lines(self, width: int) -> list[StyledLine]:
        """Return the message after a severity icon, then the hint."""
        role = {"info": "info", "warning": "waiting", "error": "failed"}[self.severity]
        blank: Spans = (("  ", text_style()),)
        lines = wrap_text(
            self.message, width, text_style("dim" if self.severity == "info" else role), margin=blank
        )
        lines[0] = StyledLine(((f"{_GLYPHS[self.severity]} ", text_style(role)), *lines[0].spans[1:]))
        if self.hint:
            lines += wrap_text(self.hint, width, text_style("dim"), margin=blank)
        return lines

    def source(self) -> str:
        """Return the message and the hint."""
        return "\n".join(filter(None, (sanitize(self.message), sanitize(self.hint))))


class RuleBlock(SinglePieceBlock):
    """Divider across the conversation with a short text."""

    label = tr_lazy("divider")

    def __init__(self, text: str, *, margin: Spans = ()) -> None:
        self.text = text
        super().__init__(margin=margin)

    def lines(self, width: int) -> list[StyledLine]:
        """Return the text between two rules."""
        return render_rule([(self.text, text_style("dim"))], width)

    def source(self) -> str:
        """Return the text."""
        return self.text
