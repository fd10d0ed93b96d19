"""Readable text on the highlighted row of a list."""

from textual.color import Color
from textual.content import Content
from textual.widget import Widget

_MIN_CONTRAST = 3.0
"""Minimum WCAG contrast between text colors and the highlight."""


def style_highlighted(line: Content, widget: Widget, name: str) -> Content:
    """Return `line` for a highlighted row. Drop its colors if they are hard to read on the highlight.

    `name` is the component class of the highlight.
    """
    background = widget.get_component_styles(name).background
    if widget.app.native_ansi_color:
        return Content(line.plain)
    success = widget.app.theme_variables.get("success", "")
    is_readable = not success or _contrast(success, background.hex) >= _MIN_CONTRAST
    return line if is_readable else Content(line.plain)


def _contrast(one: str, other: str) -> float:
    first, second = (_luminance(Color.parse(color)) for color in (one, other))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def _luminance(color: Color) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
