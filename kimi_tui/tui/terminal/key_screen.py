"""Base class of the main screen: keys for the focused widget are drawn before other changes."""

from typing import Any

from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from kimi_tui.tui.terminal.key_priority import key_priority_of
from kimi_tui.tui.terminal.key_text_area import KeyTextArea


class KeyScreen(Screen[Any], inherit_bindings=False):
    """Screen that delays its updates while a key for a `KeyTextArea` is pending."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """As in `Screen`, but a change redraws only the two affected widgets."""

    def _on_timer_update(self) -> None:
        """Lay out and draw changes. While a key for the text area is pending, wait for the next tick."""
        if not (isinstance(self.focused, KeyTextArea) and key_priority_of(self.app).is_key_pending):
            super()._on_timer_update()
