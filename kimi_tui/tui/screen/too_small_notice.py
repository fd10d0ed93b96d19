"""Notice that the terminal is too small, shown instead of everything else."""

from textual import events
from textual.widget import Widget
from textual.widgets import Static

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.prompt.prompt import PromptBox


class TooSmallNotice(Static, can_focus=True):
    """Takes the focus while it is visible, then returns the focus. Typed text goes to the prompt.

    Textual removes the focus from a hidden widget and doesn't return it when the widget is shown again.
    """

    def __init__(self, prompt: PromptBox) -> None:
        text = tr("This terminal is too small.\nkimi-tui needs 40 x 10,\nor try: kimi-tui --print")
        super().__init__(text, id="too-small", markup=False)
        self._prompt = prompt
        self._last_focused: Widget | None = None

    def on_mount(self) -> None:
        """Follow the focus."""
        self.watch(self.screen, "focused", self._handle_focus_moved)

    def _handle_focus_moved(self, focused: Widget | None) -> None:
        if focused is not None and focused is not self:
            self._last_focused = focused

    def on_show(self) -> None:
        """Take the focus."""
        self.focus(scroll_visible=False)

    def on_hide(self) -> None:
        """Return the focus to the widget that had it before."""
        if self.has_focus:
            self.screen.set_focus(self._last_focused, scroll_visible=False)

    def on_key(self, event: events.Key) -> None:
        """Insert printable characters into the prompt."""
        if event.is_printable and event.character is not None:
            event.stop()
            self._prompt.editor.insert(event.character)
