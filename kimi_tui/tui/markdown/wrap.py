"""Breaking text into rows of a width, between words, and between the characters of scripts without spaces."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from kimi_tui.tui.markdown.line import PLAIN, Ink, Line, Span, Spans, decoration, span_width

_OPENING = "（〈《「『【〔〖［｛“"
_CLOSING = "，。、；：？！）〉》」』】〕〗］｝…”"
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf"
    "\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
_NARROW = re.compile("[\t -~\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2026\u2190-\u21ff]*")
"""Text whose characters all take one cell: European words, with dashes, quotes and arrows."""


@cache
def _unbreakable() -> re.Pattern[str]:
    # Spaces, or one wide character or one word together with the brackets and stops that must not leave it.
    # Compiled with the first text that needs it: that takes some hundredths of a second.
    marks = f"[{_OPENING}{_CLOSING}]"
    wide, word = f"(?!{marks})[{_WIDE}]", f"(?:(?![{_OPENING}{_CLOSING}{_WIDE}])\\S)+"
    return re.compile(rf"[ \t]+|[{_OPENING}]*(?:{wide}|{word})[{_CLOSING}]*|.")


@cache
def _between_wide() -> re.Pattern[str]:
    return re.compile(rf"[{_WIDE}{_CLOSING}]\n[{_WIDE}{_OPENING}]")


class Row(NamedTuple):
    """The slice of a text that one row shows, and what joins it to the row above."""

    start: int
    end: int
    joint: str


def rows_of(text: str, width: int) -> list[Row]:
    """Where `text`, one line of it, breaks so that no row is wider than `width` cells."""
    if not text.isascii() and not _NARROW.fullmatch(text):
        return _wide_rows(text, width)
    return [Row(0, len(text), "\n")] if len(text) <= width else _narrow_rows(text, width)


def wrap(
    spans: Sequence[Span], width: int, *, first: Spans = (), rest: Spans = (), fill: Ink = PLAIN
) -> list[Line]:
    """`spans` as rows of at most `width` cells, `first` before the first and `rest` before the others.

    Blanks and bars of the prefixes count as decoration.
    """
    room = max(1, width - max(span_width(first), span_width(rest)))
    text = "".join(text for text, _ in spans)
    lines: list[Line] = []
    cutter = _Cutter(spans)
    for row in rows_of(text, room):
        prefix = rest if lines else first
        lines.append(
            Line(
                (*prefix, *cutter.take(row.start, row.end)),
                row.joint,
                decoration("".join(t for t, _ in prefix)),
                fill,
            )
        )
    return lines


def joins_without_space(before: str, after: str) -> bool:
    """Whether a line break of the source between `before` and `after` means nothing: Chinese, Japanese."""
    if before.isascii() or after.isascii():
        return False
    return bool(_between_wide().match(f"{before[-1]}\n{after[0]}"))


def chop(spans: Sequence[Span], width: int) -> list[Spans]:
    """`spans` cut at exactly `width` cells wherever that falls, as for code."""
    if span_width(spans) <= width:
        return [tuple(spans)]
    text = "".join(text for text, _ in spans)
    cutter = _Cutter(spans)
    rows: list[Spans] = []
    start = 0
    for piece in chop_cells(text, max(2, width)):
        rows.append(tuple(cutter.take(start, start + len(piece))))
        start += len(piece)
    return rows or [()]


def truncated(spans: Sequence[Span], width: int) -> Spans:
    """`spans` in one row of at most `width` cells, with an ellipsis for what doesn't fit."""
    if span_width(spans) <= width:
        return tuple(spans)
    if width < 2:
        return ()
    kept = chop(spans, max(2, width - 1))[0]
    if span_width(kept) > width - 1:
        kept = ()
    return (*kept, ("…", kept[-1][1] if kept else PLAIN))


def _narrow_rows(text: str, width: int) -> list[Row]:
    rows: list[Row] = []
    start, joint, length = 0, "\n", len(text)
    while length - start > width:
        space = text.rfind(" ", start, start + width + 1)
        if space <= start or text[start:space].isspace():
            rows.append(Row(start, start + width, joint))
            start, joint = start + width, ""
            continue
        rows.append(Row(start, start + len(text[start:space].rstrip(" ")), joint))
        start, joint = space + 1, " "
        while start < length and text[start] == " ":
            start += 1
    if start < length or not rows:
        rows.append(Row(start, length, joint))
    return rows


def _wide_rows(text: str, width: int) -> list[Row]:
    rows: list[Row] = []
    start = end = used = 0
    joint = "\n"
    for match in _unbreakable().finditer(text):
        token = match.group()
        cells = cell_len(token)
        if token[0] in " \t":
            used += cells
            continue
        if used + cells > width:
            if end > start:
                rows.append(Row(start, end, joint))
                joint = " " if end < match.start() else ""
            start, used = match.start(), 0
        if cells > width:
            start, joint, used = _chopped(rows, token, start, width, joint)
        else:
            used += cells
        end = match.end()
    if end > start or not rows:
        rows.append(Row(start, end, joint))
    return rows


def _chopped(rows: list[Row], token: str, start: int, width: int, joint: str) -> tuple[int, str, int]:
    # A token wider than the row: full rows of it go to `rows`, the remainder begins the next row.
    *full, remainder = chop_cells(token, max(2, width))
    for piece in full:
        rows.append(Row(start, start + len(piece), joint))
        start, joint = start + len(piece), ""
    return start, joint, cell_len(remainder)


class _Cutter:
    """Slices spans by character positions that only grow."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._index = 0
        self._offset = 0

    def take(self, start: int, end: int) -> list[Span]:
        """The spans between two positions of the joined text."""
        taken: list[Span] = []
        spans = self._spans
        while self._index < len(spans):
            text, style = spans[self._index]
            begin, stop = self._offset, self._offset + len(text)
            if stop > start and begin < end:
                piece = text[max(0, start - begin) : end - begin]
                if piece:
                    taken.append((piece, style))
            if stop > end:
                break
            self._index += 1
            self._offset = stop
        return taken
