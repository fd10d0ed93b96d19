"""Text to copy: selections and code blocks."""

import re

from textual.selection import Selection

from kimi_tui.tui.markdown.styled_line import StyledLine
from kimi_tui.tui.transcript.layout import START, TranscriptLayout, decode_position
from kimi_tui.tui.transcript.render_cache import GUTTER

_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1", re.DOTALL | re.MULTILINE)


def text_in_selection(layout: TranscriptLayout, selection: Selection) -> str:
    """Return the text within `selection`. If the selection has no ends, return the source of all blocks."""
    start, end = selection.start, selection.end
    if start is None and end is None:
        return "\n\n".join(filter(None, (block.source() for block in layout.blocks())))
    first = START if start is None else decode_position(start.y)
    last = None if end is None else decode_position(end.y)
    text: list[str] = []
    for position, block, piece in layout.pieces_from(first):
        if last is not None and position[:3] > last[:3]:
            break
        lines = layout.render_piece(block, piece).lines
        for row in range(first.row if position[:3] == first[:3] else 0, len(lines)):
            row_position = position._replace(row=row)
            if last is not None and row_position > last:
                break
            _append_line(
                text,
                lines[row],
                start.x if start and row_position == first else 0,
                end.x if end and row_position == last else None,
            )
    return "".join(text)


def extract_code_blocks(markdown: str) -> list[str]:
    """Return the contents of the fenced code blocks in `markdown`."""
    return [match.group(2).removesuffix("\n") for match in _FENCED.finditer(markdown)]


def _append_line(text: list[str], line: StyledLine, start: int, end: int | None) -> None:
    # Selection columns include the gutter; a row's decoration isn't copied.
    if text:
        text.append(line.separator)
    begin = max(line.margin, start - GUTTER)
    stop = None if end is None else max(0, end - GUTTER)
    text.append(line.text[begin:stop])
