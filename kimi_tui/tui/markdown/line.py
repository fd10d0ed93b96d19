"""Lines: text in named inks, before any theme has given the names a colour."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len


class Ink(NamedTuple):
    """How text looks, by what it is: roles such as `strong` or `diff-added`, later ones over earlier ones.

    What has colours of its own, such as a picture, has the roles `#rrggbb` and `on #rrggbb`.
    """

    roles: tuple[str, ...] = ()
    link: str = ""
    """Where a click leads: an address, or the path of a file; empty for none."""

    def plus(self, role: str) -> "Ink":
        """This ink with one more role on top."""
        return _added(self, role)

    def under(self, role: str) -> "Ink":
        """This ink with one more role beneath it all."""
        return _grounded(self, role)


@lru_cache(maxsize=2048)
def _added(ink: Ink, role: str) -> Ink:
    return Ink((*ink.roles, role), ink.link)


@lru_cache(maxsize=2048)
def _grounded(ink: Ink, role: str) -> Ink:
    return Ink((role, *ink.roles), ink.link)


PLAIN = Ink()
_DECORATION = " ▎│▌"

Span = tuple[str, Ink]
Spans = tuple[Span, ...]


@lru_cache(maxsize=512)
def ink(*roles: str) -> Ink:
    """The ink of these roles."""
    return Ink(roles)


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a screen, not yet padded to its width."""

    spans: Spans = ()
    joint: str = "\n"
    """What a copy puts between the row above and this one: a wrapped paragraph copies as one line."""
    margin: int = 0
    """How many leading characters are decoration, left out of a copy."""
    fill: Ink = PLAIN
    """The ink of the cells between the text and the right edge."""

    @property
    def text(self) -> str:
        """All characters of the row."""
        return "".join(text for text, _ in self.spans)

    @property
    def cells(self) -> int:
        """The row's width in terminal cells."""
        return sum(cell_len(text) for text, _ in self.spans)

    def link_at(self, cell: int) -> str:
        """Where a click on a cell of the row leads; empty for nowhere."""
        for text, style in self.spans:
            cell -= cell_len(text)
            if cell < 0:
                return style.link
        return ""

    def character_at(self, cell: int) -> int:
        """Which character of the row stands at a cell; the one behind the last if none does."""
        for position, character in enumerate(self.text):
            cell -= cell_len(character)
            if cell < 0:
                return position
        return len(self.text)

    def indented(self, margin: Spans) -> "Line":
        """This row behind `margin`. Blanks and bars are decoration; the marker of a list item is not."""
        if not margin:
            return self
        before = "".join(text for text, _ in margin)
        decorated = decoration(before)
        if decorated == len(before):
            decorated += self.margin
        return Line((*margin, *self.spans), self.joint, decorated, self.fill)


BLANK = Line()


def copied_text(lines: Iterable[Line]) -> str:
    """What copying whole `lines` gives: decoration left out, wrapped rows joined."""
    text: list[str] = []
    for line in lines:
        if text:
            text.append(line.joint)
        text.append(line.text[line.margin :])
    return "".join(text)


def decoration(prefix: str) -> int:
    """How many characters at the start of `prefix` are blanks and bars."""
    return len(prefix) - len(prefix.lstrip(_DECORATION))


def span_width(spans: Sequence[Span]) -> int:
    """The width of `spans` in cells."""
    return sum(cell_len(text) for text, _ in spans)
