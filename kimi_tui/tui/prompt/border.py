"""The prompt's border and placeholder: mode, agent activity, and clickable actions."""

from pathlib import Path

from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.parsed_command import parse_command
from kimi_tui.frontend.prompt_mode import PromptMode
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.prompt.activity_edge import ActivityEdge
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.tui.status.header import shorten_path
from kimi_tui.tui.terminal.silent_updates import set_border_subtitle

PLACEHOLDERS: dict[PromptMode, str] = {
    "agent": tr_lazy("Ask anything   / commands   @ files"),
    "shell": tr_lazy("Run a command in your shell"),
}
_READ_ONLY_PLACEHOLDER = tr_lazy("Read-only session   /write to continue it")
_GAP = Content(" · ")
_RESERVED_CELLS = 6
"""Cells of the edge taken by its corners and by the blanks around the actions."""


@frozen
class _ActionsState:
    """Everything that the drawn actions depend on."""

    send: str
    """Label of the send action; empty while there is nothing to send."""
    can_stop: bool
    shell_dir: str
    """Current directory of the user's shell; empty outside of shell mode."""
    width: int


class PromptBorder:
    """Draws every part of the prompt except the user's text."""

    def __init__(
        self,
        prompt: Widget,
        *,
        editor: PromptEditor,
        activity: ActivityEdge,
        key_labels: KeyLabels,
        work_dir: Path,
    ) -> None:
        """`prompt` contains the widget `#prompt-mark`. Its action `press` accepts `menu`, `send` or
        `shell`.
        """
        self._prompt = prompt
        self._editor = editor
        self._activity = activity
        self._key_labels = key_labels
        self._work_dir = work_dir
        self._shown_actions: _ActionsState | None = None

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
        """Redraw the actions if anything they depend on changed."""
        actions = _ActionsState(
            send=_send_label(state, self._editor.text, mode),
            can_stop=bool(state.shell_ids) or (state.turn is not None and not state.turn.is_interrupted),
            shell_dir=(state.shell_dir or str(self._work_dir)) if mode == "shell" else "",
            width=self._prompt.size.width,
        )
        if actions != self._shown_actions:
            self._shown_actions = actions
            set_border_subtitle(self._prompt, self._build_content(actions))

    def _update_placeholder(self, state: SessionViewState, mode: PromptMode) -> None:
        is_read_only = mode == "agent" and state.read_only
        self._editor.placeholder = tr(_READ_ONLY_PLACEHOLDER if is_read_only else PLACEHOLDERS[mode])

    def _build_content(self, state: _ActionsState) -> Content:
        labels = [_action_label("+", "", "press('menu')", "$text-muted")]
        if state.send:
            labels.append(_action_label("↵", state.send, "press('send')", "$primary"))
        if state.can_stop:
            labels.append(_action_label("■", tr("stop"), "screen.stop", "$error"))
        actions = Content("  ").join(labels)
        available = state.width - _RESERVED_CELLS - actions.cell_length - _GAP.cell_length
        shell_labels = self._shell_labels(state.shell_dir, available) if state.shell_dir else []
        return _GAP.join([*shell_labels, actions])

    def _shell_labels(self, shell_dir: str, available: int) -> list[Content]:
        """Return the shell mode's labels that fit in `available` cells.

        The key that exits the mode comes first, then the directory, then the hint about `!!`.
        """
        exit_hint = Content(tr("{key} to exit shell mode", key=self._key_labels.first_key("prompt.shell")))
        exit_hint = exit_hint.stylize(Style.from_meta({"@click": "press('shell')"}))
        directory = Content(
            shorten_path(
                sanitize_line(shell_dir), max(available - exit_hint.cell_length - _GAP.cell_length, 0)
            )
        )
        terminal_hint = Content(tr("!! for interactive programs"))
        choices = ([exit_hint, terminal_hint, directory], [exit_hint, directory], [exit_hint])
        return next((it for it in choices if _GAP.join(it).cell_length <= available), [])


def _action_label(sign: str, text: str, action: str, style: str) -> Content:
    label = Content.assemble((sign, f"bold {style}"), (f" {text}" if text else "", style))
    return label.stylize(Style.from_meta({"@click": action}))


def _send_label(state: SessionViewState, text: str, mode: PromptMode) -> str:
    if not text.strip():
        return ""
    if mode == "shell" or text.startswith("!") or parse_command(text.strip()) is not None:
        return tr("run")
    return tr("queue") if state.is_busy else tr("send")
