"""Saying things to the user in their language.

One language is spoken by a process, chosen at its start by whatever front end it runs; until then, and where
the catalogue has no words, it is English. Whatever goes to a model is English always and never passes here.
"""

import os
from collections.abc import Mapping

from kimi_tui.base.assets import asset_path
from kimi_tui.language.catalogue import Catalogue, parsed
from kimi_tui.language.choice import LanguageSetting, chosen_language

_ENGLISH = Catalogue()
_FULL_STOPS = ("。", "？", "！", "：")
"""A blank is part of these."""


class _Tongue:
    """The language of this process."""

    catalogue = _ENGLISH


def speak(wanted: LanguageSetting, *, environ: Mapping[str, str] = os.environ) -> None:
    """Speak the language that `wanted` stands for from now on; but for English, a file is read."""
    language = chosen_language(wanted, environ)
    if language == "en":
        _Tongue.catalogue = _ENGLISH
    else:
        _Tongue.catalogue = parsed(asset_path("languages", f"{language}.po").read_text("utf-8"))


def say(text: str, /, **values: object) -> str:
    """`text` in the user's language, with `values` in its placeholders, which take format specifications."""
    told = _Tongue.catalogue.said(text)
    return told.format(**values) if values else told


def say_many(one: str, many: str, count: int, /, **values: object) -> str:
    """`one` when `count` is 1, else `many`; both may hold `{count}`."""
    return say(one if count == 1 else many, count=count, **values)


def later(text: str, /) -> str:
    """`text` as it is: a table's English, which whoever shows the table says."""
    return text


def joined(*sentences: str) -> str:
    """Sentences one after another, with blanks where the language has them."""
    text = ""
    for sentence in filter(None, sentences):
        text += sentence if not text or text.endswith(_FULL_STOPS) else f" {sentence}"
    return text


def retell(text: str) -> str:
    """A finished English text from below the front ends, in the user's language if its template is known."""
    return _Tongue.catalogue.retold(text)
