"""The line that says so when no real model answers, or the session is only read, and leads out of it."""

from textual import events
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.language.saying import later, say
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.events import SessionInfo

_DEMO = later("Demo: scripted answers, no model. Type /login or click here to connect one.")
_NONE = later("No model is connected. Type /login or click here to connect one.")
_READ_ONLY = later("Read only. Type /write or click here to go on with this session.")
_IN_USE = later(
    "Read only: another process writes this session. Type /write or click here to go on in a copy."
)
_AWAY = "✕  "


class Banner(Static):
    """Shown while something is in the way of work; a click leads out of it, one on the cross puts it away."""

    DEFAULT_CSS = """
    Banner { height: auto; max-height: 3; display: none; padding: 0 1; }
    Banner.-shown { display: block; }
    """

    state: reactive[ScreenState] = reactive(ScreenState(), repaint=False)

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._put_away = False

    def watch_state(self, old: ScreenState, state: ScreenState) -> None:
        """Show what fits the session's model."""
        if old.session == state.session or state.session is None:
            return
        text = _in_the_way(state.session)
        words = _AWAY + say(text) if text else ""
        if words != self.content:
            self.update(words)
        self.set_class(bool(text) and not self._put_away, "-shown")

    async def on_click(self, event: events.Click) -> None:
        """Lead to a model, or go away; the header still says it."""
        event.stop()
        if event.y == 0 and event.x <= len(_AWAY):
            self._put_away = True
            self.remove_class("-shown")
        else:
            name = "write" if self.state.read_only else "login"
            await self.run_action(f"screen.command('{name}')")


def _in_the_way(session: SessionInfo) -> str:
    if session.read_only:
        return _IN_USE if session.in_use else _READ_ONLY
    if session.model_kind == "demo":
        return _DEMO
    return "" if session.model else _NONE
