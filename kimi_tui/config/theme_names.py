"""Names of color themes: those of the app, and files in `themes/` in the data directory."""

import re
from pathlib import Path
from typing import Literal, get_args

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line

BuiltinTheme = Literal[
    "auto", "dark", "light", "high-contrast",
    "textual-dark", "textual-light", "atom-one-dark", "atom-one-light",
    "catppuccin-frappe", "catppuccin-latte", "catppuccin-macchiato", "catppuccin-mocha", "dracula", "flexoki",
    "gruvbox", "monokai", "nord", "rose-pine", "rose-pine-dawn", "rose-pine-moon", "solarized-dark",
    "solarized-light", "tokyo-night",
]  # fmt: skip
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def is_theme_name(name: str) -> bool:
    """Return whether a theme can have this name, whether or not it exists."""
    return _NAME.fullmatch(name) is not None


def builtin_theme_names() -> tuple[str, ...]:
    """Return `auto` and the names of the app's own themes."""
    return get_args(BuiltinTheme)


def user_theme_path(data_dir: Path, name: str) -> Path:
    """Return the path of the user theme `name`."""
    return data_dir / "themes" / f"{name}.toml"


def user_theme_names(data_dir: Path) -> tuple[str, ...]:
    """Return the names of the user's themes, sorted. A file can't replace a theme of the app."""
    try:
        names = {path.stem for path in (data_dir / "themes").glob("*.toml")}
    except OSError:
        return ()
    return tuple(sorted(name for name in names if is_theme_name(name) and name not in builtin_theme_names()))


def theme_exists(name: str, data_dir: Path) -> bool:
    """Return whether there is a theme called `name`, of the app or of the user."""
    return name in builtin_theme_names() or (
        is_theme_name(name) and user_theme_path(data_dir, name).is_file()
    )


def check_theme_exists(name: str, data_dir: Path) -> None:
    """Raise ConfigError if there is no theme called `name`."""
    if theme_exists(name, data_dir):
        return
    names = ", ".join((*builtin_theme_names(), *user_theme_names(data_dir)))
    raise ConfigError(
        msg("Unknown theme “{name}”.", name=sanitize_line(name)),
        hint=msg(
            "Valid values: {names}, and the names of files in {folder}.",
            names=names,
            folder=str(data_dir / "themes"),
        ),
    )
