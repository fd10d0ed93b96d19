"""Settings dialog: search, view and change the settings in the user's config file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack, assert_never

from rich.cells import cell_len
from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.dialogs.filter_dialog import filter_choices
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.dialogs.state_dialog import StateBoundDialog, StateSource
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import SETTINGS_KEYS
from kimi_tui.tui.settings_applier import EffectiveFrom, SettingsApplier, effective_from
from kimi_tui.tui.widgets.action_button import ActionButton
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList
from kimi_tui.wire.settings import ChangeSetting, ListSettings, Setting, SettingChanged, SettingsList


class SettingsDialog(StateBoundDialog[tuple[str, ...]]):
    """Returns the keys of changed settings that take effect only in a new session."""

    BINDINGS = bindings(SETTINGS_KEYS)
    AUTO_FOCUS = "Input"

    choices = getters.query_one(ChoiceList)
    field = getters.query_one("#settings-field", Input)
    title_line = getters.query_one("#settings-title", Static)
    details = getters.query_one("#settings-details", Static)

    def __init__(self, *, applier: SettingsApplier, **source: Unpack[StateSource]) -> None:
        super().__init__(**source)
        self._applier = applier
        self._settings_list: SettingsList | None = None
        self._settings: tuple[Setting, ...] = ()
        self._last_change = self._host.state.replies.setting_changed
        self._editing: Setting | None = None
        self._pending_change: tuple[str, str | None] | None = None
        """Key and value of a change that the engine hasn't confirmed yet."""
        self._query = ""
        self._deferred_keys: list[str] = []

    def compose(self) -> ComposeResult:
        """Yield the title, the input field, the list, the details and the buttons."""
        first = self._key_labels.first_key
        with Vertical(id="settings", classes="dialog"):
            yield Static(tr("Settings"), id="settings-title", classes="dialog-title", markup=False)
            field = Input(id="settings-field")
            field.cursor_blink = False
            yield field
            yield ChoiceList()
            yield Static(id="settings-details", markup=False)
            with Horizontal(id="settings-buttons"):
                yield ActionButton("enter", tr("change"), "take")
                yield ActionButton(first("settings.reset"), tr("reset to default"), "reset")
                yield ActionButton(first("settings.close"), tr("close"), "close")

    def on_mount(self) -> None:
        """Request the settings and watch for the engine's replies."""
        self.field.placeholder = tr("type to filter")
        self.watch(self._owner, "state", self._update_from_state, init=False)
        self.watch(self.choices, "highlighted", self._show_setting_details, init=False)
        self._update_from_state(self._host.state)
        self._host.command(ListSettings())

    # from the engine

    def _update_from_state(self, state: SessionViewState) -> None:
        if state.replies.setting_changed is not self._last_change:
            self._last_change = state.replies.setting_changed
            if self._last_change is not None:
                self._handle_change_result(self._last_change)
        if state.replies.settings is not self._settings_list and state.replies.settings is not None:
            self._settings_list = state.replies.settings
            self._settings = self._applier.add_key_settings(state.replies.settings.settings)
            self.title_line.update(tr("Settings") + f"   {sanitize_line(state.replies.settings.file)}")
            self._show_settings()

    def _handle_change_result(self, result: SettingChanged) -> None:
        if self._pending_change is None or self._pending_change[0] != result.key:
            return
        (key, value), self._pending_change = self._pending_change, None
        if result.problem:
            self._show_message(sanitize_line(translate_message(result.problem)), failed=True)
            return
        self._stop_editing()
        if result.overruled_by:
            self._show_message(
                tr("Saved, but overridden by {place}.", place=sanitize_line(result.overruled_by)),
                failed=True,
            )
            return
        old = next((it for it in self._settings if it.key == key), None)
        if old is None:
            return
        warning = self._applier.apply_setting(replace(old, value=old.default if value is None else value))
        if effective_from(key) == "session" and key not in self._deferred_keys:
            self._deferred_keys.append(key)
        saved = tr("Saved: {effect}", effect=_takes_effect_text(effective_from(key)))
        self._show_message(warning or saved, failed=bool(warning))

    # the list

    def _show_settings(self) -> None:
        highlighted = self.choices.choice.value if self.choices.choice is not None else ""
        choices = (
            filter_choices(_setting_choices(self._settings), self._query)
            if self._query
            else self._grouped_choices()
        )
        self.choices.show(choices)
        values = [choice.value for choice in choices]
        first = next((index for index, value in enumerate(values) if value), 0)
        self.choices.highlighted = (
            values.index(highlighted) if highlighted and highlighted in values else first
        )
        if self._editing is None and not self.details.has_class("-message"):
            self._show_setting_details()

    def _grouped_choices(self) -> list[Choice]:
        choices: list[Choice] = []
        group: str | None = None
        for setting, choice in zip(self._settings, _setting_choices(self._settings), strict=True):
            if setting.group != group:
                group = setting.group
                heading = f"[{group}]" if group else tr("general")
                choices.append(Choice(value="", label=heading, is_heading=True))
            choices.append(replace(choice, label=setting.key.removeprefix(f"{group}."), indent=2))
        return choices

    @property
    def _highlighted_setting(self) -> Setting | None:
        choice = self.choices.choice
        return next((it for it in self._settings if choice is not None and it.key == choice.value), None)

    def _show_setting_details(self) -> None:
        setting = self._highlighted_setting
        if setting is None:
            self._show_message("")
            return
        facts = [
            _origin_text(setting),
            tr("default: {value}", value=setting.default) if setting.default else "",
            _takes_effect_text(effective_from(setting.key)),
        ]
        meaning = tr(sanitize_line(setting.meaning))
        self.details.remove_class("-failed", "-message")
        self.details.update("\n".join((meaning, " · ".join(sanitize_line(it) for it in facts if it))))

    def _show_message(self, text: str, *, failed: bool = False) -> None:
        self.details.set_class(failed, "-failed")
        self.details.set_class(bool(text), "-message")
        self.details.update(text)

    # changing

    def _change(self, setting: Setting, text: str | None) -> None:
        self._pending_change = (setting.key, text)
        self._host.command(ChangeSetting(setting.key, text))

    def _edit(self, setting: Setting) -> None:
        self._editing = setting
        self.field.value = setting.value
        self.field.placeholder = tr("new value")
        self.field.cursor_position = len(setting.value)
        hint = tr('enter: save · esc: cancel · lists: ["a", "b"]')
        self._show_message(f"{setting.key}: {tr(sanitize_line(setting.meaning))}\n{hint}")
        self.field.focus()

    def _stop_editing(self) -> None:
        if self._editing is not None:
            self._editing = None
            self.field.placeholder = tr("type to filter")
            self.field.value = self._query

    def _choose(self, setting: Setting) -> None:
        choices = [
            Choice(value=it, label=it, note=tr("in use") if it == setting.value else "")
            for it in setting.choices
        ]

        def apply_choice(value: str | None) -> None:
            if value is not None:
                self._change(setting, value)

        self.app.push_screen(
            Picker(
                setting.key, choices, key_labels=self._key_labels, hint=tr(sanitize_line(setting.meaning))
            ),
            apply_choice,
        )

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        if self._editing is None and event.value != self._query:
            self._query = event.value
            self.details.remove_class("-message")
            self._show_settings()

    @on(Input.Submitted)
    def _handle_submit(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    @on(ChoiceList.Chosen)
    def _handle_click(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        self._stop_editing()
        if event.choice.value:
            self.action_take()

    def action_take(self) -> None:
        """Edit the highlighted setting in the way that fits its type, or save the typed value."""
        if self._editing is not None:
            self._change(self._editing, self.field.value)
            return
        setting = self._highlighted_setting
        if setting is None:
            return
        match setting.kind:
            case "switch":
                self._change(setting, "false" if setting.value == "true" else "true")
            case "choice":
                self._choose(setting)
            case "integer" | "number" | "text" | "list":
                self._edit(setting)
            case "secret":
                self._show_message(tr("API keys can't be changed here. Use /login or `kimi-tui login`."))
            case "table":
                self._show_message(tr("This setting can't be changed here. Use `kimi-tui config edit`."))
            case _:
                assert_never(setting.kind)

    def action_reset(self) -> None:
        """Remove the highlighted setting from the user's config file."""
        setting = self._highlighted_setting
        if setting is not None and setting.in_user_file and self._editing is None:
            self._change(setting, None)

    def action_move(self, lines: int) -> None:
        """Move the highlight, skipping headings."""
        if self._editing is not None:
            return
        self.details.remove_class("-message")
        self.choices.move(lines)
        for _ in self.choices.choices:
            if self.choices.choice is None or self.choices.choice.value:
                break
            self.choices.move(1 if lines > 0 else -1)
        self._show_setting_details()

    def action_close(self) -> None:
        """Cancel editing. If nothing is being edited, close the dialog."""
        if self._editing is not None:
            self._stop_editing()
            self._show_setting_details()
        else:
            self.dismiss(tuple(self._deferred_keys))


def _setting_choices(settings: Sequence[Setting]) -> list[Choice]:
    notes = [_short_origin(it) for it in settings]
    note_width = max(map(cell_len, notes), default=0)  # the same for all, so that the values are aligned
    return [
        Choice(
            value=it.key,
            label=it.key,
            detail=_display_value(it),
            note=pad_right(note, note_width) if note_width else "",
        )
        for it, note in zip(settings, notes, strict=True)
    ]


def _display_value(setting: Setting) -> str:
    if setting.kind == "secret":
        return tr("set (hidden)") if setting.value else ""
    return sanitize_line(setting.value)


def _short_origin(setting: Setting) -> str:
    match setting.origin:
        case "default":
            return ""
        case "user":
            return tr("user")
        case "project":
            return tr("project")
        case "environment":
            return tr("environment")
        case "option":
            return tr("option")
        case _:
            assert_never(setting.origin)


def _origin_text(setting: Setting) -> str:
    match setting.origin:
        case "default":
            return tr("not set")
        case "environment":
            return tr("set by the environment or a stored key")
        case "user" | "project" | "option":
            return tr("set by {place}", place=setting.place)
        case _:
            assert_never(setting.origin)


def _takes_effect_text(when: EffectiveFrom) -> str:
    match when:
        case "now":
            return tr("takes effect immediately")
        case "session":
            return tr("takes effect in the next session")
        case "restart":
            return tr("takes effect after a restart")
        case _:
            assert_never(when)
