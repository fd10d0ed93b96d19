"""Interface language in the config, read before validation."""

from collections.abc import Mapping
from typing import Any, cast, get_args

from kimi_tui.i18n.locale import LanguageSetting


def language_setting(data: Mapping[str, Any]) -> LanguageSetting:
    """Return the language in the merged config `data`; `auto` if it is missing or invalid."""
    language = data.get("language")
    return cast("LanguageSetting", language) if language in get_args(LanguageSetting) else "auto"
