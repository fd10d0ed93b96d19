"""Base class of the main screen: a screen with the state of a session."""

from textual.reactive import reactive

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.tui.terminal.key_screen import KeyScreen


class SessionScreen(KeyScreen, inherit_bindings=False):
    """Screen whose widgets and dialogs follow `state`."""

    state: reactive[SessionViewState] = reactive(SessionViewState(), repaint=False)
