"""The language that the settings ask for, known before all of them are validated."""

from collections.abc import Mapping
from typing import Any, cast, get_args

from kimi_tui.language.choice import LanguageSetting


def language_in(data: Mapping[str, Any]) -> LanguageSetting:
    """The language that merged config `data` asks for; `auto` where it has none that is right."""
    language = data.get("language")
    return cast("LanguageSetting", language) if language in get_args(LanguageSetting) else "auto"
