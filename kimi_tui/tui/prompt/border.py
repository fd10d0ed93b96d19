"""The prompt's border and placeholder: mode, agent activity, and clickable actions."""

from collections.abc import Callable
from pathlib import Path

from textual.widget import Widget
from textual.widgets import Static

from kimi_tui.frontend.prompt_mode import PromptMode
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.prompt.activity_edge import ActivityEdge
from kimi_tui.tui.prompt.border_actions import BorderActions
from kimi_tui.tui.prompt.editor import PromptEditor

PLACEHOLDERS: dict[PromptMode, str] = {
    "agent": tr_lazy("Ask anything   / commands   @ files"),
    "shell": tr_lazy("Run a command in your shell"),
}
_READ_ONLY_PLACEHOLDER = tr_lazy("Read-only session   /write to continue it")


class PromptBorder:
    """Draws every part of the prompt except the user's text."""

    def __init__(
        self,
        prompt: Widget,
        *,
        editor: Callable[[], PromptEditor],
        key_labels: KeyLabels,
        clock: Callable[[], float],
        work_dir: Path,
    ) -> None:
        """`prompt` contains the widget `#prompt-mark` and has the action `press` that `BorderActions`
        needs.
        """
        self._prompt = prompt
        self._editor = editor
        self._work_dir = work_dir
        self._activity = ActivityEdge(prompt, key_labels=key_labels, clock=clock)
        self._actions = BorderActions(prompt, key_labels=key_labels)

    def update(self, old: SessionViewState, state: SessionViewState, mode: PromptMode) -> None:
        """Show a new session state."""
        if old.read_only != state.read_only:
            self._update_placeholder(state, mode)
        before = (old.turn, old.sent_count, old.is_compacting, old.requests)
        if before != (state.turn, state.sent_count, state.is_compacting, state.requests):
            self._prompt.set_class(state.is_busy, "-working")
            self._prompt.set_class(bool(state.requests), "-waiting")
            self._activity.update(state)
        self.update_actions(state, mode)

    def show_mode(self, state: SessionViewState, mode: PromptMode) -> None:
        """Show the current prompt mode."""
        self._prompt.set_class(mode == "shell", "-shell")
        self._prompt.query_one("#prompt-mark", Static).update("$" if mode == "shell" else "❯")
        self._update_placeholder(state, mode)
        self.update_actions(state, mode)

    def handle_focus_change(self) -> None:
        """Update the keys that the border names."""
        self._activity.handle_focus_change()

    def update_actions(self, state: SessionViewState, mode: PromptMode) -> None:
        """Update the actions after the text or the width changed."""
        shell_dir = state.shell_dir or str(self._work_dir)
        self._actions.update(state, text=self._editor().text, mode=mode, shell_dir=shell_dir)

    def _update_placeholder(self, state: SessionViewState, mode: PromptMode) -> None:
        is_read_only = mode == "agent" and state.read_only
        self._editor().placeholder = tr(_READ_ONLY_PLACEHOLDER if is_read_only else PLACEHOLDERS[mode])
