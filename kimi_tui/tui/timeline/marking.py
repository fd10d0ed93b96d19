"""Words on the marked row of a list."""

from textual.color import Color
from textual.content import Content
from textual.widget import Widget

_LEGIBLE = 3.0
"""Contrast, by WCAG, below which the colours of words would not be read on the mark."""


def on_mark(line: Content, widget: Widget, name: str) -> Content:
    """`line` as it is drawn on the mark of that component class: without colours where they would drown."""
    mark = widget.get_component_styles(name).background
    if widget.app.native_ansi_color:
        return Content(line.plain)
    success = widget.app.theme_variables.get("success", "")
    return line if not success or _contrast(success, mark.hex) >= _LEGIBLE else Content(line.plain)


def _contrast(one: str, other: str) -> float:
    first, second = (_luminance(Color.parse(colour)) for colour in (one, other))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def _luminance(colour: Color) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
