"""Moves the focus to an open request once the user isn't busy elsewhere."""

from collections.abc import Callable

from textual.widget import Widget

from kimi_tui.tui.approvals.input_guard import GRACE_S
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.tui.transcript.transcript import Transcript

_MIN_DELAY_S = 0.01


class FocusOffer:
    """Focuses the panel of an open request, or leaves the focus where it is."""

    def __init__(
        self, owner: Widget, *, open_panel: Callable[[], Widget | None], idle_s: Callable[[], float | None]
    ) -> None:
        """`open_panel` returns the panel with an open request; `owner` is a widget on the same screen.

        `idle_s` returns the seconds since the last key; None while the prompt contains a draft.
        """
        self._owner = owner
        self._open_panel = open_panel
        self._idle_s = idle_s

    def schedule(self, delay_s: float = GRACE_S) -> None:
        """Offer the focus after `delay_s` seconds."""
        self._owner.set_timer(max(delay_s, _MIN_DELAY_S), self.offer_now)

    def offer_now(self) -> None:
        """Focus the panel, or try again later if the user typed within the last `GRACE_S` seconds."""
        idle_s = self._idle_s()
        if self._open_panel() is None or not self._owner.screen.is_current or idle_s is None:
            return
        if self._is_busy_elsewhere(self._owner.screen.focused):
            return  # offered again when the user leaves that widget
        if idle_s < GRACE_S:
            self.schedule(GRACE_S - idle_s)
        else:
            self.focus_panel()

    def focus_panel(self) -> None:
        """Focus the open request unless it has the focus already."""
        panel = self._open_panel()
        if panel is not None and not panel.has_focus_within:
            panel.focus()

    def handle_focus_change(self, old: Widget | None, new: Widget | None) -> None:
        """Offer the focus to a request that was opened while the user was busy elsewhere."""
        if (
            self._open_panel() is not None
            and self._is_busy_elsewhere(old)
            and not self._is_busy_elsewhere(new)
        ):
            self.schedule()

    def _is_busy_elsewhere(self, focused: Widget | None) -> bool:
        """Return whether the user is in a pane or an input whose keys must not answer a request."""
        if focused is None or isinstance(focused, PromptEditor | Transcript):
            return False
        return self._open_panel() not in focused.ancestors_with_self
