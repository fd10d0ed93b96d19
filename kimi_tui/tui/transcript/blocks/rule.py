"""A line across the conversation with words in it."""

from collections.abc import Sequence

from kimi_tui.tui.markdown.line import Line, Span, ink, span_width
from kimi_tui.tui.markdown.wrap import wrap

_BEFORE: Span = ("─── ", ink("rule"))
_BELOW: Span = ("    ", ink())


def rule(words: Sequence[Span], width: int) -> list[Line]:
    """`words` between two rules; where there is no room for the second, the words go on below."""
    rest = width - span_width([_BEFORE, *words]) - 1
    if rest > 0:
        return [Line((_BEFORE, *words, (" " + "─" * rest, ink("rule"))))]
    return wrap(words, width, first=(_BEFORE,), rest=(_BELOW,))
