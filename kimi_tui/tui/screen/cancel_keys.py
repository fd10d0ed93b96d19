"""Handler of escape and ctrl+c: closes layers, interrupts, clears the prompt or quits."""

from textual import events

from kimi_tui.frontend.double_press import DoublePress
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.screen.front_end import ScreenFrontEnd

_EXIT_PRESS_S = 3.0
_DOUBLE_PRESS_S = 0.8


class CancelKeys:
    """Handles escape and ctrl+c on the main screen."""

    def __init__(
        self,
        front_end: ScreenFrontEnd,
        *,
        prompt: PromptBox,
        key_labels: KeyLabels,
        options: TuiOptions,
    ) -> None:
        self._front_end = front_end
        self._session = front_end.session
        self._prompt = prompt
        self._key_labels = key_labels
        self._escape_press = DoublePress(within_s=_DOUBLE_PRESS_S, clock=options.clock)
        self._exit_press = DoublePress(within_s=_EXIT_PRESS_S, clock=options.clock)

    async def observe(self, event: events.Key) -> None:
        """Handle a key. Escape pressed twice in an empty prompt opens the timeline."""
        twice = event.key == "escape" and self._escape_press.press()
        if event.key != "escape" or not self._prompt.editor.has_focus:
            self._escape_press.reset()
        state = self._session.state
        if event.key == "escape" and state.turn is None and state.snapshot_progress is not None:
            self._session.interrupt()  # cancels a revert that is still scanning files
        if twice and self._front_end.is_loaded and state.turn is None and self._prompt.is_blank:
            event.stop()  # the timeline would close again on escape
            await self._front_end.controllers.toggle_pane("timeline")

    @property
    def can_interrupt(self) -> bool:
        """Whether escape has an effect."""
        return self._is_working or self._is_covered

    @property
    def _is_working(self) -> bool:
        return self._session.state.turn is not None or bool(self._session.state.shell_ids)

    @property
    def _is_covered(self) -> bool:
        front_end = self._front_end
        return front_end.is_loaded and front_end.controllers.session_view.front_layer is not None

    def interrupt(self) -> None:
        """Close the frontmost layer, or interrupt the agent if no layer is open."""
        if self._is_covered:
            self._front_end.controllers.close_front_layer()
        else:
            self.stop()

    def stop(self) -> None:
        """Interrupt the running turn, or stop the commands in the user's shell."""
        self._session.interrupt(shell_first=self._prompt.mode == "shell")

    def cancel(self, selected_text: str | None) -> None:
        """Copy the selection, else clear the prompt, else interrupt, else quit when pressed twice."""
        host = self._front_end.controllers.host
        if selected_text:
            host.copy(selected_text)
        elif not self._prompt.is_blank:
            self._prompt.discard()
        elif self._is_working:
            self.interrupt()
        elif self._exit_press.press():
            host.leave()
        else:
            host.notify(tr("Press {key} again to quit", key=self._key_labels.first_key("app.cancel")))
