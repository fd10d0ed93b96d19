"""The line that says so when no real model answers, and what to do about it."""

from textual import events
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.tui.state import ScreenState

_DEMO = "Demo: scripted answers, no model. Set KIMI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY for one."
_NONE = (
    "No model is connected. Set KIMI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY and start again,"
    " or try --demo."
)


class Banner(Static):
    """Shown with the demo and without a model; a click puts it away."""

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
        self.update(text)
        self.set_class(bool(text) and not self._put_away, "-shown")

    def on_click(self, event: events.Click) -> None:
        """Put it away; the header still says it."""
        event.stop()
        self._put_away = True
        self.remove_class("-shown")
