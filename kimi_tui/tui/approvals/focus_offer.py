"""Moves the focus to an open request once the user isn't busy elsewhere."""

from typing import Protocol

from textual.widget import Widget

from kimi_tui.tui.approvals.request_panel import GRACE_S
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.tui.transcript.transcript import Transcript

_MIN_DELAY_S = 0.01


class TypingStatus(Protocol):
    """Knows whether the user is typing."""

    @property
    def idle_s(self) -> float | None:
        """Seconds since the last key. None while the prompt contains a draft."""


class FocusOffer:
    """Focuses the panel of an open request unless the user is busy elsewhere."""

    def __init__(self, owner: Widget, *, typing: TypingStatus) -> None:
        """`owner` is a widget on the same screen as the panels."""
        self._owner = owner
        self._typing = typing
        self.open_panel: Widget | None = None
        """The panel with the open request. None without an open request."""

    def schedule(self, delay_s: float = GRACE_S) -> None:
        """Offer the focus after `delay_s` seconds."""
        self._owner.set_timer(max(delay_s, _MIN_DELAY_S), self.offer_now)

    def offer_now(self) -> None:
        """Focus the panel, or try again later if the user typed within the last `GRACE_S` seconds."""
        idle_s = self._typing.idle_s
        if self.open_panel is None or not self._owner.screen.is_current or idle_s is None:
            return
        if self._is_busy_elsewhere(self._owner.screen.focused):
            return  # offered again when the user leaves that widget
        if idle_s < GRACE_S:
            self.schedule(GRACE_S - idle_s)
        else:
            self.focus_panel()

    def focus_panel(self) -> None:
        """Focus the open request unless it has the focus already."""
        if self.open_panel is not None and not self.open_panel.has_focus_within:
            self.open_panel.focus()

    def handle_focus_change(self, old: Widget | None, new: Widget | None) -> None:
        """Offer the focus to a request that was opened while the user was busy elsewhere."""
        if self.open_panel is not None and self._is_busy_elsewhere(old) and not self._is_busy_elsewhere(new):
            self.schedule()

    def _is_busy_elsewhere(self, focused: Widget | None) -> bool:
        """Return whether the focus is in a pane or an input where keys must not answer a request."""
        if focused is None or isinstance(focused, PromptEditor | Transcript):
            return False
        return self.open_panel not in focused.ancestors_with_self
