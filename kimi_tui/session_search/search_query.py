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
_SYMBOL_RANGES = "\u2b00-\u2bff\ue000-\uf8ff\U0001f000-\U0001faff\U000f0000-\U0010ffff"
"""Emoji and icons. SQLite's tokenizer treats symbols that are newer than its tables as letters."""
_MIN_PREFIX = 3
"""A shorter last word must match a complete word: too many words of the index begin with it."""


def to_index_text(text: str) -> str:
    """Return `text` folded, with runs of ideographs replaced by their pairs, and emoji by spaces."""
    if text.isascii():
        return text
    spaced = _symbols().sub(" ", fold(text))
    return _ideographs().sub(lambda match: f" {' '.join(_pairs(match[0]))} ", spaced)


def _pairs(run: str) -> list[str]:
    return [*(run[at : at + 2] for at in range(len(run) - 1)), run[-1]]


@frozen
class SearchQuery:
    """The terms that a message must contain, in any order."""

    terms: tuple[str, ...]
    """The user's words, folded by `fold`. A matching message contains each of them as a substring."""

    @property
    def expression(self) -> str:
        """Expression for FTS5's MATCH; empty if the query contains no letter or digit.

        The expression finds all messages with the terms, and a few others.
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
        """Return the ranges of characters at which the terms first occur in `text`, in order.

        Empty if one of the terms doesn't occur.
        """
        folded = fold(text)
        if not all(term in folded for term in self.terms):
            return []
        return self._find_all(folded, _origins(text))

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
    """Return `text` in lower case without accents."""
    if not text.isascii():
        for character in set(text):
            if (folded := _fold_character(character)) != character:
                text = text.replace(character, folded)
    return text.lower()


@cache
def _fold_character(character: str) -> str:
    parts = unicodedata.normalize("NFD", character.lower())
    return unicodedata.normalize("NFC", "".join(it for it in parts if not unicodedata.combining(it)))


def _origins(text: str) -> Sequence[int]:
    """Return the position in `text` of each character of the folded text."""
    if text.isascii() or all(len(_fold_character(character)) == 1 for character in set(text)):
        return range(len(text))
    return [at for at, character in enumerate(text) for _ in _fold_character(character)]


@cache
def _ideographs() -> re.Pattern[str]:
    """Return the pattern of a run of ideographs. Compiling it would delay the start of each session."""
    return re.compile(f"[{_IDEOGRAPH_RANGES}]+")


@cache
def _symbols() -> re.Pattern[str]:
    return re.compile(f"[{_SYMBOL_RANGES}]+")


@cache
def _words() -> re.Pattern[str]:
    """Return the pattern of a run of ideographs, or of other letters and digits."""
    return re.compile(rf"[{_IDEOGRAPH_RANGES}]+|[^\W_{_IDEOGRAPH_RANGES}]+")
