"""Cross that closes a pane."""

from typing import ClassVar

from textual import events
from textual.widgets import Static


class CloseButton(Static):
    """Runs the `close` action of the pane that contains it."""

    DEFAULT_CSS = """
    CloseButton { width: auto; height: 1; color: $text-muted; }
    CloseButton:hover { background: $primary 30%; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__(" ✕ ", markup=False)

    async def on_click(self, event: events.Click) -> None:
        """Close the pane."""
        event.stop()
        pane = next(node for node in self.ancestors if hasattr(node, "action_close"))
        await self.app.run_action("close", pane)
