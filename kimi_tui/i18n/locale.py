"""Detection of the user's language from the setting or the environment."""

from collections.abc import Mapping
from typing import Literal, assert_never

Language = Literal["en", "zh"]
LanguageSetting = Literal["auto", "en", "zh"]

_LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Variables with the locale of messages. The first one that is set takes precedence (POSIX, 8.2)."""


def detect_language(setting: LanguageSetting, environ: Mapping[str, str]) -> Language:
    """Return the language for `setting`. `auto` uses the locale."""
    match setting:
        case "auto":
            locale = next((environ[name] for name in _LOCALES if environ.get(name)), "")
            return "zh" if locale.lower().replace("-", "_").split(".")[0].split("_")[0] == "zh" else "en"
        case "en" | "zh":
            return setting
        case _:
            assert_never(setting)
