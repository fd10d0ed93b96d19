"""Dark, light and high-contrast themes, and the resolution of `auto`."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from kimi_tui.tui.options import ThemeChoice

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


def _adapt_theme(theme: Theme) -> Theme:
    """Return one of Textual's themes with the variables that the style sheets use."""
    foreground, background = (
        Color.parse(theme.foreground or "white"),
        Color.parse(theme.background or "black"),
    )
    blurred = background.blend(foreground, 0.25).hex
    cursor = background.blend(Color.parse(theme.primary), 0.3).hex
    return replace(
        theme,
        variables={
            "border": theme.primary,
            "border-blurred": blurred,
            "text-muted": background.blend(foreground, 0.65).hex,
            "input-selection-background": f"{theme.primary} 30%",
            "block-cursor-background": cursor,
            "block-cursor-foreground": foreground.hex,
            "scrollbar": blurred,
            "scrollbar-background": background.hex,
            "scrollbar-corner-color": background.hex,
        },
    )


THEMES = (
    DARK,
    LIGHT,
    HIGH_CONTRAST,
    *(_adapt_theme(BUILTIN_THEMES[name]) for name in get_args(ThemeChoice) if name in BUILTIN_THEMES),
)
"""The own themes, and those that other terminal programs have as well."""


def resolve_theme(
    choice: ThemeChoice, *, luminance: float | None = None, environ: Mapping[str, str] = os.environ
) -> str:
    """Return the name of the theme for `choice`.

    `auto` uses the `luminance` of the terminal's background, then `COLORFGBG`, then the dark theme.
    """
    if choice != "auto":
        return choice
    if luminance is None:
        luminance = float(environ.get("COLORFGBG", "").rpartition(";")[2] in {"7", "15"})
    return LIGHT.name if luminance > _BRIGHT_LUMINANCE else DARK.name
