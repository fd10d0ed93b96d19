"""A mirror of what the terminal shows, cell by cell, so that a frame sends only what differs.

Textual sends whole regions: a new line in the conversation is a screen of text, a turn of the spinner is the
whole prompt. Here each frame is held against the cells that the terminal shows already. Rows that only moved
are moved by the terminal itself: in a scrolling region (DECSTBM), by line feeds or reverse indexes.

Whatever a widget overlooked, no control character of a text gets past here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress
from operator import ne

from rich.cells import get_character_cell_size, split_graphemes
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Offset, Size
from textual.strip import Strip

from kimi_tui.base.terminal import without_controls
from kimi_tui.tui.brush import Placed
from kimi_tui.tui.terminal_pen import PLAIN, Cell, Look, Pen

Row = list[Cell | None]
"""The cells of a row; None for those of which nothing is known."""

_GAP = 4
"""Cells that are the same cost less than moving over them."""
_LEAST_ROWS = 6
"""Fewer rows are not worth a scrolling region."""
_KEPT = 512
"""Strips whose cells are remembered."""
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
"""Two of them are a flag, in most terminals."""
_JOINED = re.compile("[\u200d\ufe0f]")
"""What makes one sign of several characters, or a wide one of a narrow one."""
_JOINER = "\u200d"
"""At an end of a text it is left out: what is drawn in two looks is counted as two signs."""
_LIKELIEST = 2
"""Movements that are looked at more closely."""


class TerminalMirror:
    """Knows what one terminal shows. Whatever else writes to that terminal must make it `forget`."""

    def __init__(self, pen: Pen | None = None, *, moves_rows: bool = True) -> None:
        """`moves_rows` is False where the rows that leave a scrolling region would be kept (tmux does)."""
        self._moves_rows = moves_rows
        self._size = Size(0, 0)
        self._rows: list[Row] = []
        self._pen = pen or Pen()
        self._cells: dict[int, tuple[Strip, ColorSystem, list[Cell]]] = {}
        """Of strips that came lately, by their identity: what scrolls comes again and again."""

    def forget(self) -> None:
        """Nothing is known of the terminal any more; the next frames are sent whole."""
        self._size = Size(0, 0)
        self._pen.forget()

    def sequences(
        self, placed: Iterable[Placed], size: Size, colours: ColorSystem, *, cursor: Offset | None = None
    ) -> str:
        """What to send so that the terminal shows the strips where they are placed; taken as sent.

        The cursor rests at `cursor`, where input methods show what is typed.
        """
        if size != self._size:
            self._size = size
            self._rows = [[None] * size.width for _ in range(size.height)]
            self._pen.forget()  # terminals differ in what a change of their size does to it
        rows = self._updated(placed, colours)
        if self._moves_rows and (movement := _movement(self._rows, rows)):
            self._move(*movement, rows)
        for y, row in rows.items():
            if row != self._rows[y]:
                for start, end in _changed(self._rows[y], row):
                    self._pen.write(y, start, row[start:end], last=size.width - 1)
                self._rows[y] = row
        if cursor is not None:
            self._pen.go_to(cursor.y, cursor.x)
        return self._pen.taken()

    def _updated(self, placed: Iterable[Placed], colours: ColorSystem) -> dict[int, Row]:
        width, height = self._size
        rows: dict[int, Row] = {}
        for y, x, strip in placed:
            if not 0 <= y < height:
                continue
            row = rows.get(y)
            if row is None:
                row = rows[y] = self._rows[y].copy()
            cells = self._cells_of(strip, colours)
            row[x : x + len(cells)] = cells
            del row[width:]
        return rows

    def _cells_of(self, strip: Strip, colours: ColorSystem) -> list[Cell]:
        known = self._cells.get(id(strip))
        if known is not None and known[1] is colours:
            return known[2]
        if len(self._cells) >= _KEPT:
            self._cells.clear()
        cells = _cells(strip, colours)
        self._cells[id(strip)] = strip, colours, cells
        return cells

    def _move(self, first: int, last: int, up: int, rows: dict[int, Row]) -> None:
        """Have the terminal move rows `first` to `last` up, or down when negative, towards `rows`."""
        come_free = range(last + 1 - up, last + 1) if up > 0 else range(first, first - up)
        fill = _commonest_blank(rows[y] for y in come_free)
        blank: Cell | None = (" ", fill) if self._pen.scroll(first, last, up, fill) else None
        fresh: list[Row] = [[blank] * self._size.width for _ in come_free]
        kept = self._rows[first : last + 1]
        self._rows[first : last + 1] = kept[up:] + fresh if up > 0 else fresh + kept[:up]


def colours_of(console: Console) -> ColorSystem:
    """The colours that `console` has; all of them where it doesn't say."""
    name = console.color_system
    return ColorSystem[name.upper().replace("256", "EIGHT_BIT")] if name else ColorSystem.TRUECOLOR


def placed_in(update: LayoutUpdate | ChopsUpdate) -> Iterator[Placed]:
    """The strips of an update with their rows and columns."""
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in strips:
                yield y, x, strip
                x += strip.cell_length
        return
    for y, first, last in update.spans:
        for end, (x, chop) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if chop is not None and x <= last and end > first:
                yield y, x, chop if end <= last else chop.crop(0, last - x)


def _cells(strip: Strip, colours: ColorSystem) -> list[Cell]:
    cells: list[Cell] = []
    for written, style, _ in strip:
        text = without_controls(written).strip(_JOINER)
        if style is None:
            look = PLAIN
        elif text.isspace():
            look = _look_of(style, colours, blank=True)  # what colour no letter has makes no difference
        else:
            look = _look_of(style, colours)
        if text.isascii():
            cells += [(character, look) for character in text]
        else:
            _add_wide(cells, text, look)
    return cells


def _add_wide(cells: list[Cell], text: str, look: Look) -> None:
    for cluster, width in _signs(text):
        if cluster in _FLAG_LETTERS and cells and cells[-1][0] in _FLAG_LETTERS:
            cells[-1:] = (cells[-1][0] + cluster, look), ("", look)
        elif width:
            cells.append((cluster, look))
            cells += [("", look)] * (width - 1)
        elif cells:
            base = len(cells) - 1
            while base > 0 and not cells[base][0]:
                base -= 1
            cells[base] = (cells[base][0] + cluster, cells[base][1])


def _signs(text: str) -> Iterator[tuple[str, int]]:
    """What stands on the screen as one, and how many cells wide."""
    if not _JOINED.search(text):
        return ((character, get_character_cell_size(character)) for character in text)
    return ((text[start:end], width) for start, end, width in split_graphemes(text)[0])


@lru_cache(maxsize=1024)
def _look_of(style: Style, colours: ColorSystem, *, blank: bool = False) -> Look:
    if blank and not (style.underline or style.strike or style.overline or style.underline2):
        if not style.reverse:
            style = Style(bgcolor=style.bgcolor, link=style.link)
        elif style.color is not None and not style.color.is_default:
            style = Style(bgcolor=style.color, link=style.link)
    codes = Strip.render_ansi(style, colours)
    address = without_controls(style.link or "")
    link = f"\x1b]8;;{address}\x1b\\" if address else ""
    return (codes, link) if codes or link else PLAIN


def _changed(old: Row, new: Row) -> Iterator[tuple[int, int]]:
    """Where the cells of two rows differ: columns from and to, with what is too near to be left out."""
    places = list(compress(range(len(new)), map(ne, old, new)))
    if not places:
        return
    if _is_uncertain(old) or _is_uncertain(new):
        # Terminals differ in how wide they draw some characters: all of the row, so that it fits together.
        yield 0, len(new)
        return
    start = end = places[0]
    for x in places:
        if x - end > _GAP:
            yield _whole(new, start, end)
            start = x
        end = x + 1
    yield _whole(new, start, end)


def _whole(row: Row, start: int, end: int) -> tuple[int, int]:
    """The columns from `start` to `end` with the other halves of wide characters."""
    if start and _is_right_half(row[start]):
        start -= 1
    if end < len(row) and _is_right_half(row[end]):
        end += 1
    return start, end


def _is_right_half(cell: Cell | None) -> bool:
    return cell is not None and not cell[0]


def _is_uncertain(row: Row) -> bool:
    characters = [cell[0] for cell in row if cell is not None]
    text = "".join(characters)
    return not text.isascii() and (max(text) > "\uffff" or max(map(len, characters)) > 1)


def _commonest_blank(rows: Iterable[Row]) -> Look:
    looks = Counter(cell[1] for row in rows for cell in row if cell is not None and cell[0] == " ")
    return max(looks, key=looks.__getitem__, default=PLAIN)


def _movement(rows: Sequence[Row], new: dict[int, Row]) -> tuple[int, int, int] | None:
    """The rows, first and last, that moved up by so many; None where telling the terminal saves little.

    `new` then has each row between the first and the last that changes.
    """
    changed = [y for y, row in new.items() if row != rows[y]]
    if len(changed) < _LEAST_ROWS or None in rows[changed[0]]:
        return None
    first, last = min(changed), max(changed)
    for y in range(first, last + 1):
        new.setdefault(y, rows[y])
    wrong = sum(_distance(rows[y], new[y]) for y in changed)
    best = None
    for up in _likely_distances(rows[first : last + 1], [new[y] for y in range(first, last + 1)]):
        stay = range(max(first, first - up), min(last, last - up) + 1)
        left = abs(up) * len(rows[first])
        for y in stay:
            left += _distance(rows[y + up], new[y])
            if left * 2 >= wrong:
                break
        else:
            wrong, best = left * 2, (first, last, up)
    return best


def _likely_distances(old: Sequence[Row], new: Sequence[Row]) -> Iterator[int]:
    """How far up most rows have gone that stand elsewhere now, but for a scroll bar at their end."""
    befores, afters = ([row[: len(row) * 3 // 4] for row in rows] for rows in (old, new))
    found = Counter(
        before - after
        for after, row in enumerate(afters)
        for before, former in enumerate(befores)
        if former == row
    )
    del found[0]
    for distance, _ in found.most_common(_LIKELIEST):
        yield distance


def _distance(one: Row, other: Row) -> int:
    return 0 if one == other else sum(map(ne, one, other))
