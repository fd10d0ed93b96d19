"""Code blocks: coloured lines on a tinted ground."""

from collections.abc import Iterable

from kimi_tui.tui.markdown.line import Line, Spans, ink
from kimi_tui.tui.markdown.syntax import GrowingCode, highlight
from kimi_tui.tui.markdown.wrap import chop

_GROUND = ink("code-block")
_PAD: Spans = ((" ", _GROUND),)
_TAB_WIDTH = 4


def code_lines(code: str, language: str, width: int, *, context: str = "") -> list[Line]:
    """`code` as rows of `width` cells; long lines continue on the next row.

    `context` is the code just above, which is coloured but not shown: a string or comment may begin there.
    """
    text = code.expandtabs(_TAB_WIDTH)
    if not context:
        return _rows(highlight(text, language), width)
    above = context.expandtabs(_TAB_WIDTH)
    return _rows(highlight(f"{above}\n{text}", language)[above.count("\n") + 1 :], width)


def growing_code_lines(growing: GrowingCode, code: str, language: str, width: int) -> list[Line]:
    """`code` as rows of `width` cells, most of it as it was coloured before."""
    return _rows(growing.highlight(code.expandtabs(_TAB_WIDTH), language), width)


def _rows(coloured: Iterable[Spans], width: int) -> list[Line]:
    lines: list[Line] = []
    for spans in coloured:
        grounded = tuple((text, style.under("code-block")) for text, style in spans)
        for index, row in enumerate(chop(grounded, max(1, width - 2))):
            lines.append(Line((*_PAD, *row), "" if index else "\n", 1, _GROUND))
    return lines
