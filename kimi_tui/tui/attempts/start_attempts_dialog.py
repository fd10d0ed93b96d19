"""Dialog in which the user chooses which attempts to start."""

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, SelectionList, Static
from textual.widgets.selection_list import Selection

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.base.thinking_effort import THINKING_EFFORTS, ThinkingEffort
from kimi_tui.frontend.text.models import level_name
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import START_ATTEMPTS_KEYS
from kimi_tui.tui.timeline.row_renderer import checkpoint_title
from kimi_tui.tui.widgets.check_list import CheckList
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.attempts import AttemptOptions, StartAttempts, combine_options
from kimi_tui.wire.session import SessionInfo
from kimi_tui.wire.timeline import TimelineNode


class StartAttemptsDialog(ModalScreen[StartAttempts | None]):
    """Returns the command that starts the attempts, or None if the user canceled."""

    BINDINGS = bindings(START_ATTEMPTS_KEYS)
    AUTO_FOCUS = "#attempts-models"

    models = getters.query_one("#attempts-models", SelectionList)
    levels = getters.query_one("#attempts-levels", SelectionList)

    def __init__(self, node: TimelineNode | None, *, session: SessionInfo, key_labels: KeyLabels) -> None:
        """Without `node`, the attempts start from the last prompt."""
        super().__init__()
        self._node = node
        self._session = session
        self._key_labels = key_labels

    def compose(self) -> ComposeResult:
        """Yield the title, the fields, the summary and the key hints."""
        with Vertical(id="attempts-start", classes="dialog"):
            yield Static(self._title(), classes="dialog-title", markup=False)
            with Horizontal(id="attempts-lists"):
                with Vertical():
                    yield Static(tr("models"), classes="attempts-label", markup=False)
                    yield self._model_list()
                with Vertical():
                    yield Static(tr("thinking"), classes="attempts-label", markup=False)
                    yield self._level_list()
            yield from _field_row("prompt", tr("prompt"), tr("the same prompt"))
            yield from _field_row("count", tr("attempts each"), "1")
            yield from _field_row("check", tr("check"), tr("the command under [checks] in the config"))
            yield from _field_row("cost", tr("cost limit"), tr("US dollars for all attempts"))
            yield from _field_row("time", tr("time limit"), tr("seconds per attempt"))
            yield Static("", id="attempts-summary", markup=False)
            yield KeyHints(self._hints())

    def on_mount(self) -> None:
        """Show a summary of the attempts to start."""
        self.levels.display = self.levels.option_count > 0
        self._show_summary()

    def _title(self) -> str:
        if self._node is None:
            return tr("Start attempts from your last prompt")
        title = checkpoint_title(self._node)
        return sanitize_line(tr("Start attempts from before {checkpoint}", checkpoint=title))

    def _model_list(self) -> SelectionList[str]:
        session = self._session
        names = {name: name for name in session.models} or {session.model: ""}  # the demo has no name
        return CheckList(
            *(
                Selection(Content(sanitize_line(name)), value, name == session.model)
                for name, value in names.items()
            ),
            id="attempts-models",
        )

    def _level_list(self) -> SelectionList[ThinkingEffort]:
        session = self._session
        known = {level for details in session.model_details for level in details.thinking_levels}
        known |= set(session.thinking_levels)
        levels = [level for level in THINKING_EFFORTS if level in known]
        return CheckList(
            *(
                Selection(Content(level_name(level, levels)), level, level == session.thinking_effort)
                for level in levels
            ),
            id="attempts-levels",
        )

    def _hints(self) -> list[KeyHint]:
        first = self._key_labels.first_key
        return [
            KeyHint(first("startattempts.start"), tr("start"), "start", "bold"),
            KeyHint("space", tr("select"), "toggle_option"),
            KeyHint("tab", tr("next field"), "next_field"),
            KeyHint(first("startattempts.close"), tr("cancel"), "close"),
        ]

    # the fields

    def _text(self, name: str) -> str:
        return self.query_one(f"#attempts-{name}", Input).value.strip()

    def _options(self) -> tuple[AttemptOptions, ...]:
        """Return the options of the chosen attempts. Raises ValueError with the name of an invalid field."""
        count = _parse_number(self._text("count") or "1", tr("attempts each"))
        if not count.is_integer():
            raise ValueError(tr("attempts each"))
        return combine_options(
            prompts=(self._text("prompt"),),
            models=tuple(self.models.selected),
            levels=tuple(self.levels.selected),
            count=int(count),
        )

    def _command(self) -> StartAttempts:
        """Return the command. Raises ValueError with the name of an invalid field."""
        cost, time = self._text("cost"), self._text("time")
        return StartAttempts(
            attempts=self._options(),
            checkpoint=self._node.id if self._node is not None else None,
            check=self._text("check") or None,
            max_cost_usd=_parse_number(cost, tr("cost limit")) if cost else None,
            max_time_s=_parse_number(time, tr("time limit")) if time else None,
        )

    @on(Input.Changed)
    @on(SelectionList.SelectedChanged)
    def _show_summary(self) -> None:
        try:
            count = len(self._command().attempts)
        except ValueError as error:
            text = Content.styled(tr("{field}: enter a number greater than 0.", field=str(error)), "$warning")
        else:
            text = Content(tr_n("{count} attempt", "{count} attempts", count))
        self.query_one("#attempts-summary", Static).update(text)

    # actions

    def action_toggle_option(self) -> None:
        """Select or deselect the highlighted model or level; runs when its hint is clicked."""
        if isinstance(self.focused, SelectionList):
            self.focused.action_select()

    def action_next_field(self) -> None:
        """Go to the next field; runs when its hint is clicked."""
        self.focus_next()

    def action_start(self) -> None:
        """Return the command, unless a field is invalid."""
        try:
            self.dismiss(self._command())
        except ValueError:
            self._show_summary()

    def action_close(self) -> None:
        """Start nothing."""
        self.dismiss(None)


def _field_row(name: str, label: str, placeholder: str) -> ComposeResult:
    field = Input(id=f"attempts-{name}", placeholder=placeholder)
    field.cursor_blink = False
    with Horizontal(classes="attempts-row"):
        yield Static(label, classes="attempts-label", markup=False)
        yield field


def _parse_number(text: str, field: str) -> float:
    """Return a number greater than 0. Raises ValueError with the name of the field."""
    try:
        number = float(text)
    except ValueError:
        raise ValueError(field) from None
    if not 0 < number < float("inf"):
        raise ValueError(field)
    return number
