"""Clickable label of a key and its action."""

from typing import ClassVar

from textual import events
from textual.content import Content
from textual.widgets import Static


class ActionButton(Static):
    """Runs an action of an ancestor widget when clicked, like the action's key."""

    DEFAULT_CSS = """
    ActionButton { width: auto; height: 1; padding: 0 1; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self, key: str, label: str, action: str, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        name = key.replace("escape", "esc")
        super().__init__(Content.assemble((name, "bold underline"), f" {label}"), id=id)
        self._action = action

    async def on_click(self, event: events.Click) -> None:
        """Handle a click: a press and a release on the same widget."""
        event.stop()
        for node in self.ancestors:
            if hasattr(node, f"action_{self._action.partition('(')[0]}"):
                await self.app.run_action(self._action, node)
                return
