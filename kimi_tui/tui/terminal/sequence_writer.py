"""Writes cells to a terminal in few bytes by tracking its cursor and style."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter

from rich.cells import get_character_cell_size

from kimi_tui.tui.terminal.sgr import codes_for_blanks, transition_sequence

CellStyle = tuple[str, str]
"""SGR codes and the opening sequence of a link. Both may be empty."""
Cell = tuple[str, CellStyle]
"""A character with its combining characters, and its style. The right half of a wide character is empty."""

PLAIN: CellStyle = ("", "")
_UNKNOWN: Cell = (" ", PLAIN)
_get_style = itemgetter(1)
_LINK_END = "\x1b]8;;\x1b\\"
_MIN_ERASE_CELLS = 12
"""Minimum run of blanks to erase. Shorter runs are written, because erasing doesn't move the cursor."""
_FIRST_WIDE = "\u2e80"
"""First wide character from which on the width is the same in every terminal. The width of some earlier
characters depends on the locale.
"""


class SequenceWriter:
    """Collects output. Call `invalidate` after other output to the terminal.

    `can_erase` is whether the terminal erases with the background color. If so, long runs of blanks are
    erased.
    """

    def __init__(self, *, can_erase: bool = False) -> None:
        self._can_erase = can_erase
        self._output: list[str] = []
        self.invalidate()

    def invalidate(self) -> None:
        """Forget the cursor position and the style."""
        self._cursor: tuple[int, int] | None = None
        self._codes: str | None = None
        self._link = ""

    def drain(self) -> str:
        """Return and clear the collected output."""
        output = "".join(self._output)
        self._output.clear()
        return output

    def move_to(self, y: int, x: int) -> None:
        """Move the cursor to column `x` of row `y`."""
        if self._cursor != (y, x):
            self._output.append(_cursor_sequence(self._cursor, (y, x)))
            self._cursor = (y, x)

    def write(self, y: int, x: int, cells: Iterable[Cell | None], *, last: int) -> None:
        """Write `cells` from column `x` of row `y`. `last` is the last column of the terminal."""
        for style, characters in _group_runs(cells):
            text, width = "".join(characters), len(characters)
            self.move_to(y, x)
            is_blank = text.isspace()
            self._set_style(style, is_blank=is_blank)
            if width > 1 and len(characters[0]) > 1:
                # The terminal may draw the character narrower, so blank its cells first.
                self._output.append(" " * width)
                self._cursor = (y, x + width) if x + width <= last else None
                self.move_to(y, x)
            x += width
            if is_blank and width >= _MIN_ERASE_CELLS and self._can_erase:
                self._output.append(f"\x1b[{width}X")
            else:
                self._output.append(text)
                self._cursor = (y, x) if x <= last and _has_certain_width(text) else None

    def scroll(self, first: int, last: int, up: int, fill: CellStyle) -> bool:
        """Move the rows `first` to `last` up by `up`, or down if `up` is negative.

        Return True if the exposed rows are blank with the style `fill`. Otherwise their content is unknown.
        """
        fills_rows = self._can_erase
        if fills_rows:
            self._set_style(fill, is_blank=True)
        row, step = (last, "\n") if up > 0 else (first, "\x1bM")
        self._output.append(f"\x1b[{first + 1};{last + 1}r\x1b[{row + 1}H{step * abs(up)}\x1b[r")
        self._cursor = None
        return fills_rows

    def _set_style(self, style: CellStyle, *, is_blank: bool) -> None:
        codes, link = style
        if link != self._link:
            self._output.append(link or _LINK_END)
            self._link = link
        if is_blank:
            codes = codes_for_blanks(self._codes, codes)
        self._output.append(transition_sequence(self._codes, codes))
        self._codes = codes


def _group_runs(cells: Iterable[Cell | None]) -> Iterator[tuple[CellStyle, list[str]]]:
    """Yield runs of characters with one style. A cluster of several characters forms its own run.

    Terminals disagree about the width of such clusters: families, flags, letters with accents.
    """
    for style, run in groupby([cell or _UNKNOWN for cell in cells], key=_get_style):
        characters = [character for character, _ in run]
        if max(map(len, characters)) > 1:
            yield from ((style, part) for part in _split_clusters(characters))
        else:
            yield style, characters


def _split_clusters(characters: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for character in characters:
        if part and character and (len(character) > 1 or len(part[0]) > 1):
            yield part
            part = []
        part.append(character)
    yield part


def _has_certain_width(text: str) -> bool:
    """Return whether every terminal draws `text` with the width that Rich computes."""
    return text.isascii() or all(
        character.isascii() or (character >= _FIRST_WIDE and get_character_cell_size(character) == 2)
        for character in text
    )


def _cursor_sequence(start: tuple[int, int] | None, end: tuple[int, int]) -> str:
    y, x = end
    if start is None or start[0] != y:
        return f"\x1b[{y + 1};{x + 1}H"
    steps = x - start[1]
    amount = "" if abs(steps) == 1 else str(abs(steps))
    return f"\x1b[{amount}{'C' if steps > 0 else 'D'}"


@cache
def can_erase_with_background() -> bool:
    """Return whether the terminal erases with the background color.

    The source is the terminal's terminfo entry (`bce`, `ech`). False without an entry.
    """
    try:
        import curses  # not on every system
    except ImportError:
        return False
    try:
        curses.setupterm(fd=1)  # the descriptor isn't used
    except curses.error:
        return False
    return curses.tigetflag("bce") > 0 and curses.tigetstr("ech") is not None
