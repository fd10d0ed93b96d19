"""Code blocks: highlighted lines on a tinted background."""

from collections.abc import Iterable

from kimi_tui.tui.markdown.styled_line import Spans, StyledLine, text_style
from kimi_tui.tui.markdown.syntax import IncrementalHighlighter, highlight
from kimi_tui.tui.markdown.wrap import chop

_BACKGROUND = text_style("code-block")
_PAD: Spans = ((" ", _BACKGROUND),)
_TAB_WIDTH = 4


def code_lines(code: str, language: str, width: int, *, context: str = "") -> list[StyledLine]:
    """Return `code` as rows of `width` cells. Long lines wrap.

    `context` is the code just above `code`. A string or comment may begin there, so it is highlighted but not
    shown.
    """
    text = code.expandtabs(_TAB_WIDTH)
    if not context:
        return _rows(highlight(text, language), width)
    above = context.expandtabs(_TAB_WIDTH)
    return _rows(highlight(f"{above}\n{text}", language)[above.count("\n") + 1 :], width)


def streaming_code_lines(
    highlighter: IncrementalHighlighter, code: str, language: str, width: int
) -> list[StyledLine]:
    """Return `code` as rows of `width` cells, reusing the highlighting of earlier calls."""
    return _rows(highlighter.highlight(code.expandtabs(_TAB_WIDTH), language), width)


def _rows(highlighted: Iterable[Spans], width: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for spans in highlighted:
        tinted = tuple((text, style.with_base_role("code-block")) for text, style in spans)
        for index, row in enumerate(chop(tinted, max(1, width - 2))):
            lines.append(StyledLine((*_PAD, *row), "" if index else "\n", 1, _BACKGROUND))
    return lines
