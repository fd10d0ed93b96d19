"""The line that says so when no real model answers, and leads to one."""

from textual import events
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.language.saying import later, say
from kimi_tui.tui.state import ScreenState

_DEMO = later("Demo: scripted answers, no model. Type /login or click here to connect one.")
_NONE = later("No model is connected. Type /login or click here to connect one, or start with --demo.")
_AWAY = "✕  "


class Banner(Static):
    """Shown with the demo and without a model; a click opens the setup, one on the cross puts it away."""

    DEFAULT_CSS = """
    Banner { height: auto; max-height: 3; display: none; padding: 0 1; }
    Banner.-shown { display: block; }
    """

    state: reactive[ScreenState] = reactive(ScreenState(), layout=False)

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._put_away = False

    def watch_state(self, old: ScreenState, state: ScreenState) -> None:
        """Show what fits the session's model."""
        if old.session == state.session or state.session is None:
            return
        kind = state.session.model_kind
        text = _DEMO if kind == "demo" else _NONE if not state.session.model else ""
        self.update(_AWAY + say(text) if text else "")
        self.set_class(bool(text) and not self._put_away, "-shown")

    async def on_click(self, event: events.Click) -> None:
        """Lead to a model, or go away; the header still says it."""
        event.stop()
        if event.y == 0 and event.x <= len(_AWAY):
            self._put_away = True
            self.remove_class("-shown")
        else:
            await self.run_action("screen.command('login')")
