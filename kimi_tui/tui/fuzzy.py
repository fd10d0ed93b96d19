"""Fuzzy matching: the letters of a query in order, best where words and names begin."""

import re
from collections.abc import Iterable

from kimi_tui.base.value import value

_BOUNDARY = frozenset("/\\_-. :@")


@value
class Match:
    """A text that matched: how well, and where."""

    text: str
    score: float
    positions: tuple[int, ...] = ()


def match(query: str, text: str) -> Match | None:
    """How well `query` fits `text`, ignoring case; None when its letters do not occur in order."""
    if not query:
        return Match(text, 0.0)
    needle, hay = query.lower(), text.lower()
    if len(hay) != len(text):  # some letters grow when lowered; positions must fit the text
        hay = text
    whole = _substring(needle, hay)
    positions = whole if whole is not None else _subsequence(needle, hay)
    if positions is None:
        return None
    return Match(text, _score(hay, positions), positions)


def best(query: str, texts: Iterable[str], limit: int) -> list[Match]:
    """The `limit` best matches, best first; among equals the order of `texts`."""
    matches = [found for text in texts if (found := match(query, text)) is not None]
    matches.sort(key=lambda found: -found.score)
    return matches[:limit]


def line_pattern(query: str) -> re.Pattern[str]:
    """Finds, among lower-case lines, each line that holds the letters of `query` in order.

    Linear in the text: each gap stops at the letter that it waits for.
    """
    gaps = "".join(f"[^{re.escape(letter)}\n]*{re.escape(letter)}" for letter in query.lower())
    return re.compile(f"^{gaps}.*$", re.MULTILINE)


def _substring(needle: str, hay: str) -> tuple[int, ...] | None:
    name_start = max(hay.rfind("/", 0, len(hay) - 1), hay.rfind("\\", 0, len(hay) - 1)) + 1
    best_start, best_rank = -1, -1
    start = hay.find(needle)
    while start >= 0:
        rank = 2 * (start >= name_start) + (start == name_start) + _starts_word(hay, start)
        if rank > best_rank:
            best_start, best_rank = start, rank
        start = hay.find(needle, start + 1)
    return tuple(range(best_start, best_start + len(needle))) if best_start >= 0 else None


def _subsequence(needle: str, hay: str) -> tuple[int, ...] | None:
    end, position = -1, -1
    for letter in needle:
        position = hay.find(letter, position + 1)
        if position < 0:
            return None
    end = position
    positions: list[int] = []
    for letter in reversed(needle):  # backwards from where it ends first: the shortest such stretch
        end = hay.rfind(letter, 0, end + 1)
        positions.append(end)
        end -= 1
    return tuple(reversed(positions))


def _score(hay: str, positions: tuple[int, ...]) -> float:
    score = 0.0
    previous = -2
    name_start = max(hay.rfind("/", 0, len(hay) - 1), 0)
    for position in positions:
        score += 1.0
        if position == previous + 1:
            score += 4.0
        if _starts_word(hay, position):
            score += 3.0
        if position >= name_start:
            score += 2.0
        previous = position
    if positions[0] == 0:
        score += 4.0
    return score - 0.02 * len(hay) - 0.05 * (positions[-1] - positions[0])


def _starts_word(hay: str, position: int) -> bool:
    return position == 0 or hay[position - 1] in _BOUNDARY
