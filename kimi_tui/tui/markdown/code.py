"""Code blocks: coloured lines on a tinted ground."""

from kimi_tui.tui.markdown.line import Line, Spans, ink
from kimi_tui.tui.markdown.syntax import highlight
from kimi_tui.tui.markdown.wrap import chop

GROUND = ink("code-block")
_PAD: Spans = ((" ", GROUND),)
TAB_WIDTH = 4


def code_lines(code: str, language: str, width: int, *, context: str = "") -> list[Line]:
    """`code` as rows of `width` cells; long lines continue on the next row.

    `context` is the code just above, which is coloured but not shown: a string or comment may begin there.
    """
    text = code.expandtabs(TAB_WIDTH)
    skip = context.count("\n") + 1 if context else 0
    coloured = highlight(f"{context.expandtabs(TAB_WIDTH)}\n{text}" if context else text, language)[skip:]
    lines: list[Line] = []
    for spans in coloured:
        grounded = tuple((text, style.under("code-block")) for text, style in spans)
        for index, row in enumerate(chop(grounded, max(1, width - 2))):
            lines.append(Line((*_PAD, *row), "" if index else "\n", 1, GROUND))
    return lines
