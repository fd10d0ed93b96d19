"""Action for the selected block, shown in the status bar."""

from kimi_tui.base.frozen import frozen

REVERT_BINDING = "transcript.go_back"


@frozen
class BlockAction:
    """Key hint for an action on a block."""

    binding: str
    """Binding id."""
    label: str
    action: str
    """Textual action of the focused widget, run by a click."""
