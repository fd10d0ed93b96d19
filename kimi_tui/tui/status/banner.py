"""Banner for sessions without a model and for read-only sessions."""

from textual import events
from textual.reactive import reactive
from textual.widgets import Static

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.wire.events import SessionInfo

_DEMO = tr_lazy("Offline demo, no model. Type /login or click here to connect one.")
_NO_MODEL = tr_lazy("No model is configured. Type /login or click here to connect one.")
_READ_ONLY = tr_lazy("Read-only. Type /write or click here to resume this session.")
_IN_USE = tr_lazy(
    "Read-only: another process is using this session. Type /write or click here to continue in a fork."
)
_CLOSE_MARK = "✕  "


class Banner(Static):
    """Message about a missing model or a read-only session. A click on the message runs the command that
    resolves it. A click on the cross hides the banner.
    """

    DEFAULT_CSS = """
    Banner { height: auto; max-height: 3; display: none; padding: 0 1; }
    Banner.-shown { display: block; }
    """

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._is_dismissed = False

    def watch_state(self, old: SessionViewState, state: SessionViewState) -> None:
        """Update the message when the session changes."""
        if old.session == state.session or state.session is None:
            return
        message = _banner_message(state.session)
        content = _CLOSE_MARK + tr(message) if message else ""
        if content != self.content:
            self.update(content)
        self.set_class(bool(message) and not self._is_dismissed, "-shown")

    async def on_click(self, event: events.Click) -> None:
        """Hide the banner or run `/login` or `/write`. The header keeps showing the state."""
        event.stop()
        if event.y == 0 and event.x <= len(_CLOSE_MARK):
            self._is_dismissed = True
            self.remove_class("-shown")
        else:
            name = "write" if self.state.read_only else "login"
            await self.run_action(f"screen.command('{name}')")


def _banner_message(session: SessionInfo) -> str:
    if session.read_only:
        return _IN_USE if session.in_use else _READ_ONLY
    if session.model_kind == "demo":
        return _DEMO
    return "" if session.model else _NO_MODEL
