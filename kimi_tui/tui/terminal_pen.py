"""The pen: puts cells on a terminal in few bytes, for it knows where the cursor stands and how it draws."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter

from rich.cells import get_character_cell_size

from kimi_tui.tui.sgr import change, on_blanks

Look = tuple[str, str]
"""SGR codes, and the opening of a link; both may be empty."""
Cell = tuple[str, Look]
"""A character with what combines with it, and how it looks; the right half of a wide one is empty."""

PLAIN: Look = ("", "")
_UNKNOWN: Cell = (" ", PLAIN)
_look = itemgetter(1)
_LINK_END = "\x1b]8;;\x1b\\"
_LEAST_ERASED = 12
"""Fewer blanks are written as such: erasing them leaves the cursor before them."""
_FIRST_WIDE = "\u2e80"
"""Characters from here on are as wide in every terminal; some of those before depend on its language."""


class Pen:
    """Collects what to send. What it knows holds until something else writes to the terminal.

    `erases` tells whether the terminal erases in the colour of the background: then it does so where many
    blanks are to stand.
    """

    def __init__(self, *, erases: Callable[[], bool] = lambda: False) -> None:
        self._erases = erases
        self._sent: list[str] = []
        self.forget()

    def forget(self) -> None:
        """Neither the place of the cursor nor its look is known any more."""
        self._place: tuple[int, int] | None = None
        self._codes: str | None = None
        self._link = ""

    def taken(self) -> str:
        """What is to be sent, which is over with that."""
        sent = "".join(self._sent)
        self._sent.clear()
        return sent

    def go_to(self, y: int, x: int) -> None:
        """Put the cursor on column `x` of row `y`."""
        if self._place != (y, x):
            self._sent.append(_way(self._place, (y, x)))
            self._place = (y, x)

    def write(self, y: int, x: int, cells: Iterable[Cell | None], *, last: int) -> None:
        """Write `cells` from column `x` of row `y` on; `last` is the last column of the terminal."""
        for look, characters in _runs(cells):
            text, width = "".join(characters), len(characters)
            self.go_to(y, x)
            is_blank = text.isspace()
            self._take(look, is_blank=is_blank)
            if width > 1 and len(characters[0]) > 1:  # blank what a narrower drawing doesn't cover
                self._sent.append(" " * width)
                self._place = (y, x + width) if x + width <= last else None
                self.go_to(y, x)
            x += width
            if is_blank and width >= _LEAST_ERASED and self._erases():
                self._sent.append(f"\x1b[{width}X")
            else:
                self._sent.append(text)
                self._place = (y, x) if x <= last and _is_certain(text) else None

    def scroll(self, first: int, last: int, up: int, fill: Look) -> bool:
        """Move the rows `first` to `last` up by so many, down when negative.

        Whether the rows that come free are blank in the look `fill`; otherwise nothing is known of them.
        """
        fills = self._erases()
        if fills:
            self._take(fill, is_blank=True)
        where, step = (last, "\n") if up > 0 else (first, "\x1bM")
        self._sent.append(f"\x1b[{first + 1};{last + 1}r\x1b[{where + 1};1H{step * abs(up)}\x1b[r")
        self._place = None
        return fills

    def _take(self, look: Look, *, is_blank: bool) -> None:
        codes, link = look
        if link != self._link:
            self._sent.append(link or _LINK_END)
            self._link = link
        if is_blank:
            codes = on_blanks(self._codes, codes)
        self._sent.append(change(self._codes, codes))
        self._codes = codes


def _runs(cells: Iterable[Cell | None]) -> Iterator[tuple[Look, list[str]]]:
    """What can be written in one go: of one look, and a sign of several characters by itself.

    How wide such a sign is (families, flags, letters with accents), terminals don't agree upon.
    """
    for look, run in groupby([cell or _UNKNOWN for cell in cells], key=_look):
        characters = [character for character, _ in run]
        if max(map(len, characters)) > 1:
            yield from ((look, piece) for piece in _pieces(characters))
        else:
            yield look, characters


def _pieces(characters: list[str]) -> Iterator[list[str]]:
    piece: list[str] = []
    for character in characters:
        if piece and character and (len(character) > 1 or len(piece[0]) > 1):
            yield piece
            piece = []
        piece.append(character)
    yield piece


def _is_certain(text: str) -> bool:
    """Whether every terminal draws `text` as wide as we count it."""
    return text.isascii() or all(
        character.isascii() or (character >= _FIRST_WIDE and get_character_cell_size(character) == 2)
        for character in text
    )


def _way(start: tuple[int, int] | None, end: tuple[int, int]) -> str:
    y, x = end
    away = f"\x1b[{y + 1};{x + 1}H"
    if start is None or start[0] != y:
        return away
    steps = x - start[1]
    amount = "" if abs(steps) == 1 else str(abs(steps))
    return f"\x1b[{amount}{'C' if steps > 0 else 'D'}"


@cache
def erases_in_colour() -> bool:
    """Whether the terminal of the environment fills what it erases with the colour of the background.

    By its terminfo entry (`bce`, `ech`); no for one that has none.
    """
    try:
        import curses  # not on every system
    except ImportError:
        return False
    try:
        curses.setupterm(fd=1)  # the descriptor is not looked at
    except curses.error:
        return False
    return curses.tigetflag("bce") > 0 and curses.tigetstr("ech") is not None
