"""The user's language, where something is said without a front end that reads the settings."""

from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.paths import share_dir
from kimi_tui.config.language import language_in
from kimi_tui.config.loading import read_config
from kimi_tui.language.saying import speak


def speak_as_configured() -> None:
    """Speak as the settings say. Those that can't be read are told of by whatever needs them."""
    try:
        config = read_config(share_dir=share_dir(), work_dir=Path.cwd())
    except (KimiTuiError, OSError):
        return
    speak(language_in(config.data))
