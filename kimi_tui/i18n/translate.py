"""Translation of messages into the user's language.

A process has one language. Its front end sets the language at startup. Before that, the language is English.
Messages that the catalog lacks stay English. Text for a model is never translated.
"""

import os
from collections.abc import Mapping

from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.i18n.catalog import Catalog, parse_catalog
from kimi_tui.i18n.catalog import join_sentences as join_sentences
from kimi_tui.i18n.locale import LanguageSetting, detect_language

_ENGLISH = Catalog()


class _ActiveLanguage:
    """The language of this process."""

    catalog = _ENGLISH


def set_language(setting: LanguageSetting, *, environ: Mapping[str, str] = os.environ) -> None:
    """Set the language of this process. Languages other than English are read from a catalog file."""
    language = detect_language(setting, environ)
    if language == "en":
        _ActiveLanguage.catalog = _ENGLISH
    else:
        _ActiveLanguage.catalog = parse_catalog(asset_path("languages", f"{language}.po").read_text("utf-8"))


def tr(text: str, /, **values: object) -> str:
    """Return `text` in the user's language with `values` inserted. Placeholders may have format specs."""
    translation = _ActiveLanguage.catalog.gettext(text)
    return translation.format(**values) if values else translation


def tr_n(one: str, many: str, count: int, /, **values: object) -> str:
    """Return `one` if `count` is 1, else `many`. Both may contain `{count}`."""
    return tr(one if count == 1 else many, count=count, **values)


def tr_lazy(text: str, /) -> str:
    """Return `text` unchanged. Marks a message that is translated later, for display."""
    return text


def translate_message(text: str) -> str:
    """Return a message of another layer in the user's language. A plain `str` has no parameters."""
    return _ActiveLanguage.catalog.translate_message(text)


def translate_error(error: KimiTuiError) -> str:
    """Return the error's message and hint in the user's language, on one line."""
    return join_sentences(translate_message(error.what), translate_message(error.hint))
