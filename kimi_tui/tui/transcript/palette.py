"""The palette: what colour each ink has in the theme of the moment."""

from collections.abc import Callable, Iterable, Sequence

from rich.style import Style
from textual.color import Color
from textual.css.styles import StylesBase
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.strip import Strip
from textual.widget import Widget

from kimi_tui.tui.markdown.line import Ink

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
"""Every role that an ink may have; each is a component class of the transcript."""
COMPONENT_CLASSES = {f"transcript--{role}" for role in ROLES}
"""For a small widget that declares them; a large one is better served by `looks_of`."""

_REVERSED_IN_ANSI = {"match", "match-current", "new-below"}
_DIM_IN_ANSI = {"dim", "guide", "rule", "undone", "diff-number", "thinking", "cancelled", "table-rule"}
_COLOURED_IN_ANSI = {"diff-added": "done", "diff-removed": "failed"}
"""In a terminal's own colours there are no tints: what else tells such text apart."""


def looks_of(widget: Widget) -> Callable[[str], StylesBase]:
    """What gives the styles of a role's class below `widget`, read from the style sheet when asked for.

    Textual does the same for all of a widget's COMPONENT_CLASSES together, but at each change of focus
    and of hovering, which for some dozens of them is felt.
    """

    def look(name: str) -> StylesBase:
        node = DOMNode(classes=name)
        node._attach(widget)
        widget.app.stylesheet.apply(node, animate=False)
        return node.styles

    return look


def palette_of(widget: Widget, *, filters: Sequence[LineFilter] = ()) -> "Palette":
    """The palette of what `widget` draws in its own colours."""
    _, _, background, foreground = widget.colors
    return Palette(
        looks_of(widget),
        foreground=foreground,
        background=background,
        ansi=widget.app.native_ansi_color,
        filters=filters,
    )


class Palette:
    """Turns inks into styles. Made anew when the theme or the styles change."""

    def __init__(
        self,
        styles_of: Callable[[str], StylesBase],
        *,
        foreground: Color,
        background: Color,
        ansi: bool,
        filters: Sequence[LineFilter] = (),
    ) -> None:
        self._styles_of = styles_of
        self._foreground = foreground
        self._background = background
        self._ansi = ansi
        self._filters = filters
        self._looks: dict[str, StylesBase] = {}
        self._styles: dict[Ink, Style] = {}

    def style(self, ink: Ink) -> Style:
        """The style of text in `ink`. Raises KeyError for a role that is no colour and not one of ROLES."""
        style = self._styles.get(ink)
        if style is None:
            style = self._styles[ink] = self._mixed(ink)
        return style

    def read(self, roles: Iterable[str]) -> None:
        """Read the styles of `roles` now, which the first text in them would wait for."""
        for role in roles:
            self._look(role)

    def filtered(self, strip: Strip) -> Strip:
        """`strip` as the app's filters leave it: without colours for `NO_COLOR`, for instance."""
        for line_filter in self._filters:
            strip = strip.apply_filter(line_filter, self._background)
        return strip

    def _look(self, role: str) -> StylesBase:
        look = self._looks.get(role)
        if look is None:
            if role not in ROLES:
                raise KeyError(role)
            look = self._looks[role] = self._styles_of(f"transcript--{role}")
        return look

    def _mixed(self, ink: Ink) -> Style:
        foreground, background = self._foreground, self._background
        attributes = Style(link=_web_address(ink.link))
        for role in _ansi_roles(ink.roles) if self._ansi else ink.roles:
            if role.startswith("#"):
                foreground = Color.parse(role)
                continue
            if role.startswith("on #"):
                background = Color.parse(role.removeprefix("on "))
                continue
            styles = self._look(role)
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
    # A changed line has one colour throughout, instead of a ground below the colours of its syntax.
    for ground, colour in _COLOURED_IN_ANSI.items():
        if ground in roles:
            return (*(role for role in roles if not role.startswith("syntax-")), colour)
    return roles


def _web_address(link: str) -> str | None:
    # Only what a terminal can open by itself; a path is opened by the app.
    return link if link.startswith(("http://", "https://", "mailto:")) else None
