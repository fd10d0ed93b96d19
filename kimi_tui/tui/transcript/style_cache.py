"""Cache of Rich styles for text styles, built from the current theme."""

from collections.abc import Iterable, Sequence

from rich.style import Style
from textual.color import Color
from textual.css.styles import StylesBase
from textual.filter import LineFilter
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.tui.markdown.styled_line import TextStyle
from kimi_tui.tui.terminal.silent_updates import resolve_component_styles

ROLES = (
    "bullet",
    "cancelled",
    "code",
    "code-block",
    "diff-added",
    "diff-added-word",
    "diff-number",
    "diff-removed",
    "diff-removed-word",
    "dim",
    "done",
    "em",
    "failed",
    "guide",
    "heading-1",
    "heading-2",
    "heading-3",
    "heading-4",
    "info",
    "link",
    "match",
    "match-current",
    "new-below",
    "quote",
    "quote-bar",
    "rule",
    "running",
    "selected",
    "strike",
    "strong",
    "syntax-comment",
    "syntax-function",
    "syntax-keyword",
    "syntax-number",
    "syntax-string",
    "syntax-type",
    "table-head",
    "table-rule",
    "thinking",
    "tool-argument",
    "tool-name",
    "undone",
    "user",
    "user-bar",
    "waiting",
)
"""All roles that a text style may have. Each role is a component class of the transcript."""
COMPONENT_CLASSES = {f"transcript--{role}" for role in ROLES}
"""Component classes for small widgets. Larger widgets should use a `StyleCache`, which is faster."""

_REVERSED_IN_ANSI = {"match", "match-current", "new-below"}
_DIM_IN_ANSI = {"dim", "guide", "rule", "undone", "diff-number", "thinking", "cancelled", "table-rule"}
_COLORED_IN_ANSI = {"diff-added": "done", "diff-removed": "failed"}
"""Replacements for tinted backgrounds, which ANSI themes lack. These tables list attributes and colors."""


class StyleCache:
    """Converts text styles to Rich styles. Create a new one when the theme or the styles change."""

    def __init__(self, widget: Widget, *, filters: Sequence[LineFilter] = ()) -> None:
        """Use the current colors of `widget`."""
        self._widget = widget
        _, _, self._background, self._foreground = widget.colors
        self._ansi = widget.app.native_ansi_color
        self._filters = filters
        self._component_styles: dict[str, StylesBase] = {}
        self._styles: dict[TextStyle, Style] = {}

    def style(self, text_style: TextStyle) -> Style:
        """Return the Rich style for `text_style`. Raises KeyError for an unknown role."""
        style = self._styles.get(text_style)
        if style is None:
            style = self._styles[text_style] = self._build_style(text_style)
        return style

    def preload(self, roles: Iterable[str]) -> None:
        """Read the styles of `roles` in advance, so that the first text with these roles isn't delayed."""
        for role in roles:
            self._get_component_styles(role)

    def apply_filters(self, strip: Strip) -> Strip:
        """Return `strip` after the app's line filters, for example without colors for `NO_COLOR`."""
        for line_filter in self._filters:
            strip = strip.apply_filter(line_filter, self._background)
        return strip

    def _get_component_styles(self, role: str) -> StylesBase:
        styles = self._component_styles.get(role)
        if styles is None:
            if role not in ROLES:
                raise KeyError(role)
            styles = self._component_styles[role] = resolve_component_styles(
                self._widget, f"transcript--{role}"
            )
        return styles

    def _build_style(self, text_style: TextStyle) -> Style:
        foreground, background = self._foreground, self._background
        attributes = Style(link=_web_address(text_style.link))
        for role in _ansi_roles(text_style.roles) if self._ansi else text_style.roles:
            if role.startswith("#"):
                foreground = Color.parse(role)
                continue
            if role.startswith("on #"):
                background = Color.parse(role.removeprefix("on "))
                continue
            styles = self._get_component_styles(role)
            if styles.has_rule("background") and not self._ansi:
                background += styles.background
            if styles.has_rule("color"):
                foreground = (
                    background.get_contrast_text(styles.color.a) if styles.auto_color else styles.color
                )
            if styles.has_rule("text_style"):
                attributes += styles.text_style
            if self._ansi:
                attributes += Style(
                    reverse=role in _REVERSED_IN_ANSI or None, dim=role in _DIM_IN_ANSI or None
                )
        visible = foreground if self._ansi else background + foreground
        return Style.from_color(visible.rich_color, background.rich_color) + attributes


def _ansi_roles(roles: tuple[str, ...]) -> tuple[str, ...]:
    # A changed line has a single color instead of a tinted background below syntax colors.
    for background_role, color_role in _COLORED_IN_ANSI.items():
        if background_role in roles:
            return (*(role for role in roles if not role.startswith("syntax-")), color_role)
    return roles


def _web_address(link: str) -> str | None:
    # Only links that a terminal can open; the app opens file paths.
    return link if link.startswith(("http://", "https://", "mailto:")) else None
