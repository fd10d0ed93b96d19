"""Message catalogs (`languages/*.po`, in gettext's format).

The keys are the English messages, with named placeholders: `{count} files`.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from kimi_tui.base.message_text import MessageText

_STRING = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
_ENTRY = re.compile(rf"^msgid {_STRING}msgstr {_STRING}", re.MULTILINE)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLACEHOLDER = re.compile(r"\{\d+\}")
_MIN_LITERAL_CHARACTERS = ((7, " "), (12, ". "))
"""Minimum number of literal characters of a template whose gaps contain several words or sentences. Templates
with fewer match by chance.
"""
_MAX_DEPTH = 3
"""Maximum nesting of texts in gaps that are translated."""


class Catalog:
    """Messages of one language. Missing ones stay English."""

    def __init__(self, entries: Mapping[str, str] = MappingProxyType({})) -> None:
        self.entries = entries

    def gettext(self, text: str) -> str:
        """Return the translation of a message with its placeholders."""
        return self.entries.get(text) or text

    def translate_message(self, text: str, *, depth: int = 0) -> str:
        """Return the translation of a message and of the messages in its parameters."""
        if not self.entries:
            return text
        if isinstance(text, MessageText):
            params = {
                name: self.translate_message(value, depth=depth + 1) if isinstance(value, str) else value
                for name, value in text.params.items()
            }
            translation = self.gettext(text.id)
            return translation.format(**params) if params else translation
        if known := self.entries.get(text):
            return known
        for template in self._templates:
            if (gaps := template.match_gaps(text)) is not None:
                if depth < _MAX_DEPTH:
                    gaps = [self.translate_message(gap, depth=depth + 1) for gap in gaps]
                return template.render(gaps)
        return text

    @cached_property
    def _templates(self) -> "list[_Template]":
        # The most specific templates come first.
        templates = [
            _parse_template(key, translation) for key, translation in self.entries.items() if "{1}" in key
        ]
        return sorted(templates, key=lambda template: -sum(map(len, template.literals)))


class _Template(NamedTuple):
    """A message with gaps, and its translation."""

    literals: tuple[str, ...]
    """The text before, between and after the gaps."""
    translation: str

    def match_gaps(self, text: str) -> list[str] | None:
        """Return the texts in the gaps, or None if `text` doesn't match."""
        first, *middle, last = self.literals
        if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
            return None
        gaps, position, end = [], len(first), len(text) - len(last)
        for literal in middle:
            index = text.find(literal, position, end)
            if index < 0:
                return None
            gaps.append(text[position:index])
            position = index + len(literal)
        gaps.append(text[position:end])
        length = sum(map(len, self.literals))
        matches_by_chance = any(
            length < minimum and separator in gap
            for minimum, separator in _MIN_LITERAL_CHARACTERS
            for gap in gaps
        )
        return None if matches_by_chance else gaps

    def render(self, gaps: list[str]) -> str:
        """Return the translation with `gaps` filled in."""
        return _PLACEHOLDER.sub(lambda number: gaps[int(number[0][1:-1]) - 1], self.translation)


def _parse_template(key: str, translation: str) -> _Template:
    return _Template(tuple(_PLACEHOLDER.split(key)), translation)


def parse_catalog(text: str) -> Catalog:
    """Parse the content of a .po file."""
    entries = {_unquote(key): _unquote(translation) for key, translation in _ENTRY.findall(text)}
    entries.pop("", None)  # the header
    return Catalog(entries)


def _unquote(strings: str) -> str:
    if "\\" not in strings and strings.count('"') == 2:
        return strings[strings.index('"') + 1 : strings.rindex('"')]
    import json  # imported here because English has no catalog

    return "".join(json.loads(piece) for piece in _QUOTED.findall(strings))
