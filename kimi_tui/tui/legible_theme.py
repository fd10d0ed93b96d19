"""Adjusts a theme's colors so that text is legible.

Many known themes choose colors for decoration. For example, yellow on white or comments have less contrast
than WCAG 2 requires for text.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from textual.color import Color
from textual.theme import Theme

MIN_CONTRAST = 4.5
"""Minimum contrast of text, from WCAG 2 level AA."""
_ADJUSTED = MIN_CONTRAST + 0.1
"""Contrast of adjusted colors. Rounding must not reduce it below the minimum."""
_STEPS = 40


def contrast_ratio(first: Color, second: Color) -> float:
    """Return the contrast of two opaque colors: 1 for equal colors, 21 for black and white."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def make_legible(theme: Theme) -> Theme:
    """Return `theme` with legible text colors, and with all the variables that the style sheets use.

    Variables that the theme sets are kept, but `text-muted` and the cursor's colors are adjusted.
    """
    generated = theme.to_color_system().generate()
    background = Color.parse(theme.background or generated["background"])
    surface = Color.parse(theme.surface or generated["surface"])
    panel = Color.parse(theme.panel or generated["panel"])
    paper = (background, surface, panel)
    foreground = _adjust(Color.parse(theme.foreground or generated["foreground"]), paper)
    named: dict[str, Any] = {
        name: _adjust(Color.parse(getattr(theme, name) or generated[name]), paper).hex
        for name in ("primary", "secondary", "accent", "success", "warning", "error")
    }
    primary = named["primary"]
    defaults = {
        "border": primary,
        "border-blurred": background.blend(foreground, 0.25).hex,
        "text-muted": background.blend(foreground, 0.65).hex,
        "input-selection-background": f"{primary} 30%",
        "block-cursor-background": background.blend(Color.parse(primary), 0.3).hex,
        "block-cursor-foreground": foreground.hex,
        "scrollbar": background.blend(foreground, 0.25).hex,
        "scrollbar-background": background.hex,
        "scrollbar-corner-color": background.hex,
    }
    variables = {**defaults, **theme.variables}
    variables["text-muted"] = _adjust(Color.parse(variables["text-muted"]), paper).hex
    cursor = Color.parse(variables["block-cursor-background"])
    variables["block-cursor-foreground"] = _adjust(
        Color.parse(variables["block-cursor-foreground"]), [cursor]
    ).hex
    return replace(
        theme,
        foreground=foreground.hex,
        background=background.hex,
        surface=surface.hex,
        panel=panel.hex,
        variables=variables,
        **named,
    )


def _adjust(color: Color, backgrounds: Iterable[Color]) -> Color:
    """Return `color`, made lighter or darker until it is legible on all `backgrounds`."""
    papers = list(backgrounds)
    if _least_contrast(color, papers) >= MIN_CONTRAST:
        return color
    white, black = Color(255, 255, 255), Color(0, 0, 0)
    end = max((white, black), key=lambda it: _least_contrast(it, papers))
    shades = (color.blend(end, step / _STEPS) for step in range(1, _STEPS + 1))
    return next((it for it in shades if _least_contrast(it, papers) >= _ADJUSTED), end)


def _least_contrast(color: Color, backgrounds: list[Color]) -> float:
    return min(contrast_ratio(color, it) for it in backgrounds)


def _luminance(color: Color) -> float:
    red, green, blue = (_linear(part / 255) for part in (color.r, color.g, color.b))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
