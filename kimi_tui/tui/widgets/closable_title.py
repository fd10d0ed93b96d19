"""Title of a pane, with a cross that hides the pane."""

from textual.content import Content
from textual.style import Style

_CLICK = Style.from_meta({"@click": "hide"})


def closable_title(text: str) -> Content:
    """Return a border title with a cross. A click on the cross runs the `hide` action of the pane."""
    return Content.assemble(text, " ", Content(" ✕ ").stylize(_CLICK))
