"""The prompt's border and placeholder: permission mode, agent activity, and clickable actions."""

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
from kimi_tui.tui.prompt.permission_mode import PermissionModeLabels
from kimi_tui.tui.status.header import shorten_path
from kimi_tui.tui.terminal.silent_updates import set_border_subtitle
from kimi_tui.wire.events import SessionInfo

PLACEHOLDERS: dict[PromptMode, str] = {
    "agent": tr_lazy("Ask anything   / commands   @ files"),
    "shell": tr_lazy("Run a command in your shell"),
}
_READ_ONLY_PLACEHOLDER = tr_lazy("Read-only session   /write to continue it")
_GAP = Content.styled(" · ", "$text-muted")
_RESERVED_CELLS = 6
"""Cells for the corners, one line character next to each corner, and blanks around the labels."""
_MIN_LINE_CELLS = 2
"""Minimum length of the line between the labels on the left and the actions on the right."""


@frozen
class _LowerEdgeState:
    """All values that the lower edge depends on."""

    session: SessionInfo | None
    has_focus: bool
    send: str
    """Label of the send action. Empty if the prompt is empty."""
    can_stop: bool
    shell_dir: str
    """Current directory of the user's shell. Empty outside of shell mode."""
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
        self._mode_labels = PermissionModeLabels(key_labels)
        self._shown_lower_edge: _LowerEdgeState | None = None

    def update(self, old: SessionViewState, state: SessionViewState, mode: PromptMode) -> None:
        """Show a new session state."""
        if old.read_only != state.read_only:
            self._update_placeholder(state, mode)
        before = (old.turn, old.sent_count, old.is_compacting, old.requests)
        if before != (state.turn, state.sent_count, state.is_compacting, state.requests):
            self._activity.update(state)
        self.update_lower_edge(state, mode)

    def show_mode(self, state: SessionViewState, mode: PromptMode) -> None:
        """Show the current prompt mode."""
        self._prompt.set_class(mode == "shell", "-shell")
        self._prompt.query_one("#prompt-mark", Static).update("$" if mode == "shell" else "❯")
        self._update_placeholder(state, mode)
        self.update_lower_edge(state, mode)

    def handle_focus_change(self, state: SessionViewState, mode: PromptMode) -> None:
        """Update the keys in the border."""
        self._activity.handle_focus_change()
        self.update_lower_edge(state, mode)

    def update_lower_edge(self, state: SessionViewState, mode: PromptMode) -> None:
        """Redraw the lower edge if one of its values has changed."""
        edge = _LowerEdgeState(
            session=state.session,
            has_focus=self._prompt.is_attached and self._prompt.screen.focused is self._editor,
            send=_send_label(state, self._editor.text, mode),
            can_stop=bool(state.shell_ids) or (state.turn is not None and not state.turn.is_interrupted),
            shell_dir=(state.shell_dir or str(self._work_dir)) if mode == "shell" else "",
            width=self._prompt.outer_size.width,
        )
        if edge != self._shown_lower_edge:
            self._shown_lower_edge = edge
            set_border_subtitle(self._prompt, self._build_content(edge))

    def _update_placeholder(self, state: SessionViewState, mode: PromptMode) -> None:
        is_read_only = mode == "agent" and state.read_only
        self._editor.placeholder = tr(_READ_ONLY_PLACEHOLDER if is_read_only else PLACEHOLDERS[mode])

    def _build_content(self, state: _LowerEdgeState) -> Content:
        """Return the labels at both ends of the edge.

        The line between them has no style of its own, so that it gets the color of
        `border-subtitle-color`. The style sheet keeps that equal to the color of the border.
        """
        labels = [_action_label("+", "", "press('menu')", "$text-muted")]
        if state.send:
            labels.append(_action_label("↵", state.send, "press('send')", "$primary"))
        if state.can_stop:
            labels.append(_action_label("■", tr("stop"), "screen.stop", "$error"))
        actions = Content("  ").join(labels)
        room = state.width - _RESERVED_CELLS - actions.cell_length
        choices = (
            self._shell_choices(state.shell_dir, room - _MIN_LINE_CELLS - 2)
            if state.shell_dir
            else self._mode_labels.choices(state.session, has_focus=state.has_focus)
        )
        for choice in choices:
            line_cells = room - choice.cell_length - 2
            if choice.cell_length and line_cells >= _MIN_LINE_CELLS:
                return Content.assemble(choice, f" {'─' * line_cells} ", actions)
        return actions

    def _shell_choices(self, shell_dir: str, available: int) -> list[Content]:
        """Return the labels of shell mode for `available` cells, most detailed first.

        The key that exits the mode comes first, then the directory, then the hint about `!!`.
        """
        exit_hint = Content.styled(
            tr("{key} to exit shell mode", key=self._key_labels.first_key("prompt.shell")), "$text-muted"
        ).stylize(Style.from_meta({"@click": "press('shell')"}))
        directory = Content.styled(
            shorten_path(
                sanitize_line(shell_dir), max(available - exit_hint.cell_length - _GAP.cell_length, 0)
            ),
            "$text-muted",
        )
        terminal_hint = Content.styled(tr("!! for interactive programs"), "$text-muted")
        return [
            _GAP.join(it)
            for it in ([exit_hint, terminal_hint, directory], [exit_hint, directory], [exit_hint])
        ]


def _action_label(sign: str, text: str, action: str, style: str) -> Content:
    label = Content.assemble((sign, f"bold {style}"), (f" {text}" if text else "", style))
    return label.stylize(Style.from_meta({"@click": action}))


def _send_label(state: SessionViewState, text: str, mode: PromptMode) -> str:
    if not text.strip():
        return ""
    if mode == "shell" or text.startswith("!") or parse_command(text.strip()) is not None:
        return tr("run")
    return tr("queue") if state.is_busy else tr("send")
