"""Fuzzy matching: the characters of a query in order, with a preference for the starts of words and names."""

import re
from collections.abc import Iterable

from kimi_tui.base.frozen import frozen

_BOUNDARY = frozenset("/\\_-. :@")


@frozen
class Match:
    """A text that matches a query, with its score and the matched positions."""

    text: str
    score: float
    positions: tuple[int, ...] = ()


def match(query: str, text: str) -> Match | None:
    """Match `query` against `text`, ignoring case. Return None if `text` lacks the characters in order."""
    if not query:
        return Match(text, 0.0)
    needle, haystack = query.lower(), text.lower()
    if len(haystack) != len(text):
        # Some characters get longer in lowercase, but the positions must refer to the text.
        haystack = text
    substring = _find_substring(needle, haystack)
    positions = substring if substring is not None else _find_subsequence(needle, haystack)
    if positions is None:
        return None
    return Match(text, _score(haystack, positions), positions)


def best_matches(query: str, texts: Iterable[str], limit: int) -> list[Match]:
    """Return the `limit` best matches, best first. Equal scores keep the order of `texts`."""
    matches = [result for text in texts if (result := match(query, text)) is not None]
    matches.sort(key=lambda result: -result.score)
    return matches[:limit]


def line_pattern(query: str) -> re.Pattern[str]:
    """Return a pattern that finds each line with the characters of `query` in order, in lowercase text.

    Runs in linear time: each gap ends at the first occurrence of the next character.
    """
    gaps = "".join(f"[^{re.escape(letter)}\n]*{re.escape(letter)}" for letter in query.lower())
    return re.compile(f"^{gaps}.*$", re.MULTILINE)


def _find_substring(needle: str, hay: str) -> tuple[int, ...] | None:
    name_start = max(hay.rfind("/", 0, len(hay) - 1), hay.rfind("\\", 0, len(hay) - 1)) + 1
    best_start, best_rank = -1, -1
    start = hay.find(needle)
    while start >= 0:
        rank = 2 * (start >= name_start) + (start == name_start) + _starts_word(hay, start)
        if rank > best_rank:
            best_start, best_rank = start, rank
        start = hay.find(needle, start + 1)
    return tuple(range(best_start, best_start + len(needle))) if best_start >= 0 else None


def _find_subsequence(needle: str, hay: str) -> tuple[int, ...] | None:
    end, position = -1, -1
    for letter in needle:
        position = hay.find(letter, position + 1)
        if position < 0:
            return None
    end = position
    positions: list[int] = []
    for letter in reversed(needle):  # backward from the earliest end, to find the shortest match
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
