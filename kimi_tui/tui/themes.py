"""Dark, light and high-contrast themes, the registration of others, and the resolution of `auto`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.app import App
from textual.theme import BUILTIN_THEMES, Theme

from kimi_tui.config.theme_names import builtin_theme_names, user_theme_names
from kimi_tui.tui.legible_theme import make_legible

DARK = Theme(
    name="dark",
    primary="#6ea8fe",
    secondary="#a992f5",
    accent="#f0b36b",
    foreground="#d9dee8",
    background="#0e1117",
    surface="#161a23",
    panel="#1f2531",
    success="#6fcf97",
    warning="#f2c063",
    error="#f2777a",
    variables={
        "border": "#6ea8fe",
        "border-blurred": "#343c4d",
        "text-muted": "#8b94a7",
        "input-selection-background": "#6ea8fe 30%",
        "block-cursor-background": "#2a3c5e",
        "block-cursor-foreground": "#ffffff",
        "scrollbar": "#343c4d",
        "scrollbar-background": "#0e1117",
        "scrollbar-corner-color": "#0e1117",
    },
)
LIGHT = Theme(
    name="light",
    primary="#2563c9",
    secondary="#7046c4",
    accent="#a85a0c",
    foreground="#262b36",
    background="#fcfbf8",
    surface="#f3f1eb",
    panel="#e8e5dc",
    success="#217a41",
    warning="#946200",
    error="#c02b30",
    dark=False,
    variables={
        "border": "#2563c9",
        "border-blurred": "#cfcabd",
        "text-muted": "#666c7a",
        "input-selection-background": "#2563c9 25%",
        "block-cursor-background": "#cfdff8",
        "block-cursor-foreground": "#101828",
        "scrollbar": "#cfcabd",
        "scrollbar-background": "#fcfbf8",
        "scrollbar-corner-color": "#fcfbf8",
    },
)
HIGH_CONTRAST = Theme(
    name="high-contrast",
    primary="#6fd3ff",
    secondary="#d7b5ff",
    accent="#ffe14d",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    success="#5cff8a",
    warning="#ffe14d",
    error="#ff7b7b",
    variables={
        "border": "#6fd3ff",
        "border-blurred": "#bdbdbd",
        "text-muted": "#d0d0d0",
        "input-selection-background": "#ffffff 45%",
        "block-cursor-background": "#ffe14d",
        "block-cursor-foreground": "#000000",
        "scrollbar": "#bdbdbd",
        "scrollbar-background": "#000000",
        "scrollbar-corner-color": "#000000",
    },
)
_BRIGHT_LUMINANCE = 0.5


OWN_THEMES = (DARK, LIGHT, HIGH_CONTRAST)


def theme_names(data_dir: Path) -> tuple[str, ...]:
    """Return the names of all themes except `auto`: the app's own, well-known, and the user's themes."""
    builtin = (name for name in builtin_theme_names() if name != "auto")
    return (*builtin, *user_theme_names(data_dir))


def register_theme(app: App[Any], name: str, data_dir: Path) -> None:
    """Make the theme `name` available in `app`. Raises ConfigError if it doesn't exist or is invalid.

    Reads the user's theme files again, to show changes to a file.
    """
    if name in builtin_theme_names():
        if name in BUILTIN_THEMES and app.available_themes.get(name) in (None, BUILTIN_THEMES[name]):
            app.register_theme(make_legible(BUILTIN_THEMES[name]))
        return
    from kimi_tui.tui.user_themes import load_user_theme  # few users have themes of their own

    app.register_theme(load_user_theme(name, data_dir))


def resolve_theme(
    choice: str, *, luminance: float | None = None, environ: Mapping[str, str] = os.environ
) -> str:
    """Return the name of the theme for `choice`.

    `auto` uses the `luminance` of the terminal's background, then `COLORFGBG`, then the dark theme.
    """
    if choice != "auto":
        return choice
    if luminance is None:
        luminance = float(environ.get("COLORFGBG", "").rpartition(";")[2] in {"7", "15"})
    return LIGHT.name if luminance > _BRIGHT_LUMINANCE else DARK.name
