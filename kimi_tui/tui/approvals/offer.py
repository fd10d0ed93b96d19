"""The offer of the keyboard to what is asked, made once the user doesn't need it for something else."""

from collections.abc import Callable

from textual.widget import Widget

from kimi_tui.tui.approvals.hearing import GRACE_S
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.tui.transcript.transcript import Transcript

_SOONEST_S = 0.01


class Offer:
    """Gives the keyboard to the panel that asks, or leaves it where it is."""

    def __init__(
        self, owner: Widget, *, asking: Callable[[], Widget | None], typed_ago: Callable[[], float | None]
    ) -> None:
        """`asking` is the panel with an open request; `owner` stands on the same screen.

        `typed_ago` tells how long ago the user typed; None while a draft stands in the prompt.
        """
        self._owner = owner
        self._asking = asking
        self._typed_ago = typed_ago

    def make(self, delay_s: float = GRACE_S) -> None:
        """Offer it, once the user has not typed for a moment."""
        self._owner.set_timer(max(delay_s, _SOONEST_S), self.make_now)

    def make_now(self) -> None:
        """Offer it, unless the user typed a moment ago: then a moment later."""
        typed_ago = self._typed_ago()
        if self._asking() is None or not self._owner.screen.is_current or typed_ago is None:
            return
        if self._works_elsewhere(self._owner.screen.focused):
            return  # it is offered when the keyboard comes back
        if typed_ago < GRACE_S:
            self.make(GRACE_S - typed_ago)
        else:
            self.give()

    def give(self) -> None:
        """Go to what is asked, unless the user is there already."""
        panel = self._asking()
        if panel is not None and not panel.has_focus_within:
            panel.focus()

    def keyboard_moved(self, old: Widget | None, new: Widget | None) -> None:
        """The keyboard comes back from where the user worked: what was asked meanwhile is offered."""
        if self._asking() is not None and self._works_elsewhere(old) and not self._works_elsewhere(new):
            self.make()

    def _works_elsewhere(self, focused: Widget | None) -> bool:
        """Whether the user is in a pane or a line of its own, whose keys must answer nothing."""
        if focused is None or isinstance(focused, PromptEditor | Transcript):
            return False
        return self._asking() not in focused.ancestors_with_self
