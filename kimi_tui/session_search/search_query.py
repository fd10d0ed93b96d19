"""Terms of texts and queries.

SQLite's tokenizer splits at white space and punctuation, so a Chinese sentence would be one term, and its
trigram tokenizer can't find terms of two characters. Runs of Chinese, Japanese and Korean characters are
therefore indexed as overlapping pairs: 检查点 as 检查, 查点 and 点.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from kimi_tui.base.frozen import frozen

_IDEOGRAPH_RANGES = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_MIN_PREFIX = 3
"""Shorter last words must match completely: too many words of the index begin with them."""


def to_index_text(text: str) -> str:
    """Return `text` with runs of ideographs replaced by their pairs."""
    if text.isascii():
        return text
    return _ideographs().sub(lambda match: f" {' '.join(_pairs(match[0]))} ", text)


def _pairs(run: str) -> list[str]:
    return [*(run[at : at + 2] for at in range(len(run) - 1)), run[-1]]


@frozen
class SearchQuery:
    """The terms that a message must contain, in any order."""

    terms: tuple[str, ...]
    """The user's words, folded as by `fold`; a message contains each as a part of its text."""

    @property
    def expression(self) -> str:
        """Expression for FTS5's MATCH; empty if the query contains no letter or digit.

        It finds all messages with the terms, and a few others.
        """
        words = [word for term in self.terms for word in _words().findall(term)]
        parts = []
        for number, word in enumerate(words, 1):
            if _ideographs().fullmatch(word):
                pairs = _pairs(word)[:-1]
                parts += [f'"{pair}"' for pair in pairs] or [f'"{word}" *']
            elif number == len(words) and len(word) >= _MIN_PREFIX:
                parts.append(f'"{word}" *')
            else:
                parts.append(f'"{word}"')
        return " ".join(parts)

    def positions_in(self, text: str) -> list[tuple[int, int]]:
        """Return where the terms first occur in `text`, as ranges of characters, in order.

        Empty if one of them doesn't.
        """
        lowered = text.lower()
        if len(lowered) == len(text) and (ranges := self._find_all(lowered, range(len(text)))):
            return ranges  # accents are rare, and removing them is slow
        return [] if text.isascii() else self._find_all(*_fold_with_origins(text))

    def _find_all(self, folded: str, origins: Sequence[int]) -> list[tuple[int, int]]:
        ranges = []
        for term in self.terms:
            at = folded.find(term)
            if at < 0:
                return []
            ranges.append((origins[at], origins[at + len(term) - 1] + 1))
        return sorted(ranges)


def parse_search_query(text: str) -> SearchQuery:
    """Return the query for the text that the user typed. A phrase in quotes is one term."""
    terms: Sequence[str] = [
        " ".join((quoted or word).split()) for quoted, word in re.findall(r'"([^"]+)"|([^\s"]+)', text)
    ]
    return SearchQuery(tuple(dict.fromkeys(folded for term in terms if (folded := fold(term)))))


def fold(text: str) -> str:
    """Return `text` in lower case without accents, as SQLite's tokenizer compares it."""
    if text.isascii():
        return text.lower()
    return _fold_with_origins(text)[0]


def _fold_with_origins(text: str) -> tuple[str, Sequence[int]]:
    """Return the folded text, and for each of its characters the position in `text`."""
    if text.isascii():
        return text.lower(), range(len(text))
    characters: list[str] = []
    origins: list[int] = []
    for position, character in enumerate(text):
        for part in unicodedata.normalize("NFD", character.lower()):
            if not unicodedata.combining(part):
                characters.append(part)
                origins.append(position)
    return "".join(characters), origins


@cache
def _ideographs() -> re.Pattern[str]:
    """Return the pattern of a run of ideographs. Compiling it would delay the start of each session."""
    return re.compile(f"[{_IDEOGRAPH_RANGES}]+")


@cache
def _words() -> re.Pattern[str]:
    """Return the pattern of a run of ideographs, or of other letters and digits."""
    return re.compile(rf"[{_IDEOGRAPH_RANGES}]+|[^\W_{_IDEOGRAPH_RANGES}]+")
