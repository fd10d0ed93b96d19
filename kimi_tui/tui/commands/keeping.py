"""Choices that later runs should find, written to the config file. In a thread: tomlkit is slow to import."""

from pathlib import Path

from kimi_tui.language.saying import say


def keep_theme(path: Path, theme: str) -> str:
    """Make `theme` that of later runs; what to tell the user. Raises ConfigError."""
    from kimi_tui.config.editing import set_theme

    set_theme(path, theme)
    return say("The theme is {theme} from now on.", theme=theme)


def keep_model(path: Path, name: str) -> str:
    """Make `name` the model that new sessions begin with, if the file has it; what to tell the user.

    Raises ConfigError.
    """
    from kimi_tui.config.editing import defines_model, set_default_model

    if not defines_model(path, name):
        return ""
    set_default_model(path, name)
    return say("New sessions begin with {name} from now on.", name=name)
