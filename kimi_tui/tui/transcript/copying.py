"""What copying takes: the text under a selection, and code blocks of Markdown."""

import re

from textual.selection import Selection

from kimi_tui.tui.markdown.line import Line
from kimi_tui.tui.transcript.flow import START, Flow, place_of_code
from kimi_tui.tui.transcript.piece import GUTTER

_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1", re.DOTALL | re.MULTILINE)


def selected_text(flow: Flow, selection: Selection) -> str:
    """The text between the ends of `selection`; with no ends, the source of every block."""
    start, end = selection.start, selection.end
    if start is None and end is None:
        return "\n\n".join(filter(None, (block.source() for block in flow.blocks())))
    first = START if start is None else place_of_code(start.y)
    last = None if end is None else place_of_code(end.y)
    text: list[str] = []
    for place, block, piece in flow.pieces_from(first):
        if last is not None and place[:3] > last[:3]:
            break
        lines = flow.picture(block, piece).lines
        for row in range(first.row if place[:3] == first[:3] else 0, len(lines)):
            here = place._replace(row=row)
            if last is not None and here > last:
                break
            _add(
                text,
                lines[row],
                start.x if start and here == first else 0,
                end.x if end and here == last else None,
            )
    return "".join(text)


def code_blocks(markdown: str) -> list[str]:
    """What stands in the fences of `markdown`."""
    return [match.group(2).removesuffix("\n") for match in _FENCED.finditer(markdown)]


def _add(text: list[str], line: Line, start: int, end: int | None) -> None:
    # Positions count from the gutter; a row's decoration is left out.
    if text:
        text.append(line.joint)
    begin = max(line.margin, start - GUTTER)
    stop = None if end is None else max(0, end - GUTTER)
    text.append(line.text[begin:stop])
