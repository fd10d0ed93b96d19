"""Interface language for code that runs before a front end has read the settings."""

from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.paths import data_dir
from kimi_tui.config.language_setting import language_setting
from kimi_tui.config.loader import read_config
from kimi_tui.i18n.translate import set_language


def set_language_from_config() -> None:
    """Set the language from the config. Unreadable config is ignored here; its reader reports it later."""
    try:
        config = read_config(data_dir=data_dir(), work_dir=Path.cwd())
    except (KimiTuiError, OSError):
        return
    set_language(language_setting(config.data))
