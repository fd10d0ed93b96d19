"""Clickable actions at the right end of the prompt's lower border."""

from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.parsed_command import parse_command
from kimi_tui.frontend.prompt_mode import PromptMode
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.status.header import shorten_path
from kimi_tui.tui.terminal.silent_updates import set_border_subtitle

_GAP = Content(" · ")
_RESERVED_CELLS = 6
"""Cells of the edge taken by its corners and by the blanks around the actions."""


@frozen
class _BorderState:
    """Everything that the drawn actions depend on."""

    send: str
    """Label of the send action; empty while there is nothing to send."""
    can_stop: bool
    shell_dir: str
    """Current directory of the user's shell; empty outside of shell mode."""
    width: int


class BorderActions:
    """Keeps the subtitle of a widget's border up to date.

    The widget must have an action `press` that accepts `menu`, `send` or `shell`.
    """

    def __init__(self, widget: Widget, *, key_labels: KeyLabels) -> None:
        self._widget = widget
        self._key_labels = key_labels
        self._shown_state: _BorderState | None = None

    def update(self, state: SessionViewState, *, text: str, mode: PromptMode, shell_dir: str) -> None:
        """Redraw the actions if anything they depend on changed. `shell_dir` is the shell's current
        directory.
        """
        can_stop = bool(state.shell_ids) or (state.turn is not None and not state.turn.is_interrupted)
        new_state = _BorderState(
            _send_label(state, text, mode),
            can_stop,
            shell_dir if mode == "shell" else "",
            self._widget.size.width,
        )
        if new_state != self._shown_state:
            self._shown_state = new_state
            set_border_subtitle(self._widget, self._build_content(new_state))

    def _build_content(self, state: _BorderState) -> Content:
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
