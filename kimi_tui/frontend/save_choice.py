"""Saves choices for later runs in the config file. Call it in a thread: tomlkit is slow to import."""

from pathlib import Path

from kimi_tui.i18n.translate import tr


def create_config_file(path: Path) -> None:
    """Create the config file at `path` with comments if it doesn't exist. Raises ConfigError."""
    from kimi_tui.config.template import write_template

    if not path.exists():
        write_template(path)


def save_theme(path: Path, theme: str) -> str:
    """Save `theme` for later runs. Return a message for the user. Raises ConfigError."""
    from kimi_tui.config.toml_edit import set_theme

    set_theme(path, theme)
    return tr("Theme: {theme}", theme=theme)


def save_model(path: Path, name: str) -> str:
    """Make `name` the default model if the file defines it. Return a message for the user, or an empty
    string.

    Raises ConfigError.
    """
    from kimi_tui.config.toml_edit import defines_model, set_default_model

    if not defines_model(path, name):
        return ""
    set_default_model(path, name)
    return tr("Default model for new sessions: {name}", name=name)
