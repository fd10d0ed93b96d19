"""What is said in a language, by what is said in English (`languages/*.po`, in gettext's format).

Keys of one kind are what the code says, with its placeholders: `{count} files`. Those of the other kind are
sentences that come from below the front ends as finished text, with numbers for what differs:
`{1} can't be read: {2}.`
"""

import re
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

_STRING = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
_ENTRY = re.compile(rf"^msgid {_STRING}msgstr {_STRING}", re.MULTILINE)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_GAP = re.compile(r"\{\d+\}")
_LEAST = ((7, " "), (12, ". "))
"""Characters that a template has around gaps with several words or sentences: fewer fit by chance."""
_DEEPEST = 3
"""Texts within texts within texts that are looked up."""


class Catalogue:
    """One language; what it lacks stays English."""

    def __init__(self, entries: Mapping[str, str] = MappingProxyType({})) -> None:
        self.entries = entries

    def said(self, text: str) -> str:
        """What the code says, with its placeholders."""
        return self.entries.get(text) or text

    def retold(self, text: str, *, depth: int = 0) -> str:
        """A finished text, found by its template; so are the texts in its gaps."""
        if not self.entries:
            return text
        if known := self.entries.get(text):
            return known
        for template in self._templates:
            if (gaps := template.gaps_in(text)) is not None:
                if depth < _DEEPEST:
                    gaps = [self.retold(gap, depth=depth + 1) for gap in gaps]
                return template.filled(gaps)
        return text

    @cached_property
    def _templates(self) -> "list[_Template]":
        # What says most of a text comes first.
        templates = [_template(key, told) for key, told in self.entries.items() if "{1}" in key]
        return sorted(templates, key=lambda one: -sum(map(len, one.words)))


class _Template(NamedTuple):
    """A text with gaps, and how it is told."""

    words: tuple[str, ...]
    """What stands before, between and behind the gaps."""
    told: str

    def gaps_in(self, text: str) -> list[str] | None:
        """What `text` has in the gaps; None when it is another text."""
        first, *middle, last = self.words
        if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
            return None
        gaps, at, end = [], len(first), len(text) - len(last)
        for words in middle:
            found = text.find(words, at, end)
            if found < 0:
                return None
            gaps.append(text[at:found])
            at = found + len(words)
        gaps.append(text[at:end])
        said = sum(map(len, self.words))
        return None if any(said < least and mark in gap for least, mark in _LEAST for gap in gaps) else gaps

    def filled(self, gaps: list[str]) -> str:
        """The told text with `gaps` in it."""
        return _GAP.sub(lambda number: gaps[int(number[0][1:-1]) - 1], self.told)


def _template(key: str, told: str) -> _Template:
    return _Template(tuple(_GAP.split(key)), told)


def parsed(text: str) -> Catalogue:
    """The catalogue that `text` writes down."""
    entries = {_joined(key): _joined(told) for key, told in _ENTRY.findall(text)}
    entries.pop("", None)  # the head, which says in which encoding it is
    return Catalogue(entries)


def _joined(strings: str) -> str:
    if "\\" not in strings and strings.count('"') == 2:
        return strings[strings.index('"') + 1 : strings.rindex('"')]
    import json  # not for English, which has no catalogue  # not for English, which has no catalogue

    return "".join(json.loads(piece) for piece in _QUOTED.findall(strings))
