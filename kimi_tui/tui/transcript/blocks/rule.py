"""Horizontal rule with text."""

from collections.abc import Sequence

from kimi_tui.tui.markdown.styled_line import Span, StyledLine, span_width, text_style
from kimi_tui.tui.markdown.wrap import wrap

_BEFORE: Span = ("─── ", text_style("rule"))
BELOW: Span = ("    ", text_style())


def render_rule(spans: Sequence[Span], width: int) -> list[StyledLine]:
    """Return `spans` between two rules. If the second rule doesn't fit, the text wraps."""
    rest = width - span_width([_BEFORE, *spans]) - 1
    if rest > 0:
        return [StyledLine((_BEFORE, *spans, (" " + "─" * rest, text_style("rule"))))]
    return wrap(spans, width, first=(_BEFORE,), rest=(BELOW,))
