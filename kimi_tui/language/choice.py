"""Which language the user is spoken to in: as the setting says, else as the environment does."""

from collections.abc import Mapping
from typing import Literal, assert_never

Language = Literal["en", "zh"]
LanguageSetting = Literal["auto", "en", "zh"]

_LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The variables that name the language of messages; the first that is set counts (POSIX, 8.2)."""


def chosen_language(wanted: LanguageSetting, environ: Mapping[str, str]) -> Language:
    """The language that `wanted` stands for; `auto` asks the locale."""
    match wanted:
        case "auto":
            locale = next((environ[name] for name in _LOCALES if environ.get(name)), "")
            return "zh" if locale.lower().replace("-", "_").split(".")[0].split("_")[0] == "zh" else "en"
        case "en" | "zh":
            return wanted
        case _:
            assert_never(wanted)
