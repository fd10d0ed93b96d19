"""Input that a viewer may send: it scrolls, and answers the terminal's own queries."""

import re

_ALLOWED = re.compile(
    r"(?:\x1b(?:"
    r"\[[ABCDHF]|O[ABCDHF]"  # arrows, home and end
    r"|\[[56]~"  # page up and down
    r"|\[<6[45];\d{1,4};\d{1,4}[Mm]"  # the mouse wheel
    r"|\[[IO]"  # focus
    r"|\[[?>]?[\d;]{0,20}(?:\$y|[Rc])"  # replies to queries
    r"|\]1[01];rgb:[0-9a-f/]{1,20}(?:\x07|\x1b\\)"
    r"))+"
)


def is_viewer_input(text: str) -> bool:
    """Return whether a viewer may send `text`. It consists of allowed sequences only."""
    return _ALLOWED.fullmatch(text) is not None
