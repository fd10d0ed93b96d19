"""Settings dialog: search, view and change the settings in the user's config file."""

from dataclasses import replace
from pathlib import Path
from typing import Unpack, assert_never

from textual import getters, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, translate_error, translate_message
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.dialogs.setting_choices import (
    EDIT_FILE,
    FOLDS,
    matching_choices,
    sectioned_choices,
    setting_title,
)
from kimi_tui.tui.dialogs.state_dialog import StateBoundDialog, StateSource
from kimi_tui.tui.dialogs.themes import ThemePicker
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import SETTINGS_KEYS
from kimi_tui.tui.settings_applier import EffectiveFrom, SettingsApplier, effective_from
from kimi_tui.tui.terminal.edit_text import edit_config_file
from kimi_tui.tui.themes import theme_names
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

    def __init__(self, *, applier: SettingsApplier, data_dir: Path, **source: Unpack[StateSource]) -> None:
        super().__init__(**source)
        self._applier = applier
        self._data_dir = data_dir
        self._settings_list: SettingsList | None = None
        self._settings: tuple[Setting, ...] = ()
        self._last_change = self._host.state.replies.setting_changed
        self._editing: Setting | None = None
        self._pending_change: tuple[str, str | None] | None = None
        """Key and value of a change that the engine hasn't confirmed yet."""
        self._query = ""
        self._open_folds: set[str] = set()
        """Long sections that are shown."""
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
            matching_choices(self._settings, self._query)
            if self._query
            else sectioned_choices(self._settings, self._open_folds)
        )
        self.choices.show(choices)
        values = [choice.value for choice in choices]
        first = next((index for index, value in enumerate(values) if value), 0)
        self.choices.highlighted = (
            values.index(highlighted) if highlighted and highlighted in values else first
        )
        if self._editing is None and not self.details.has_class("-message"):
            self._show_setting_details()

    @property
    def _highlighted_setting(self) -> Setting | None:
        choice = self.choices.choice
        return next((it for it in self._settings if choice is not None and it.key == choice.value), None)

    def _show_setting_details(self) -> None:
        setting = self._highlighted_setting
        if setting is None:
            is_fold = self.choices.choice is not None and self.choices.choice.value in FOLDS
            self.details.remove_class("-failed", "-message")
            self.details.update(tr("enter or a click shows or hides these settings") if is_fold else "")
            return
        facts = [
            setting.key,
            _origin_text(setting),
            tr("default: {value}", value=setting.default) if setting.default else "",
            _takes_effect_text(effective_from(setting.key)),
        ]
        meaning = tr(sanitize_line(setting.meaning))
        self.details.remove_class("-failed", "-message")
        self.details.update("\n".join((" · ".join(sanitize_line(it) for it in facts if it), meaning)))

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
        self._show_message(f"{setting_title(setting)}: {tr(sanitize_line(setting.meaning))}\n{hint}")
        self.field.focus()

    def _stop_editing(self) -> None:
        if self._editing is not None:
            self._editing = None
            self.field.placeholder = tr("type to filter")
            self.field.value = self._query

    def _choose(self, setting: Setting) -> None:
        choices = [
            Choice(
                value=it,
                label=it,
                note=tr("in use") if it == setting.value else "",
                is_current=it == setting.value,
            )
            for it in setting.choices
        ]
        hint = tr(sanitize_line(setting.meaning))
        picker = Picker(setting_title(setting), choices, key_labels=self._key_labels, hint=hint)
        self._apply_picked(setting, picker)

    def _choose_theme(self, setting: Setting) -> None:
        names = ("auto", *theme_names(self._data_dir))
        picker = ThemePicker(
            names,
            setting.value,
            data_dir=self._data_dir,
            key_labels=self._key_labels,
            background=self._applier.background,
        )
        self._apply_picked(setting, picker)

    def _apply_picked(self, setting: Setting, picker: Picker) -> None:
        def apply_choice(value: str | None) -> None:
            if value is not None:
                self._change(setting, value)

        self.app.push_screen(picker, apply_choice)

    @work(group="edit", exclusive=True)
    async def _edit_file(self) -> None:
        """Let the user edit the config file, then show its settings."""
        if self._settings_list is None or not self._settings_list.file:
            return
        try:
            await edit_config_file(self.app, Path(self._settings_list.file))
        except KimiTuiError as error:
            self._show_message(sanitize_line(translate_error(error)), failed=True)
            return
        self._host.command(ListSettings())

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
        choice, setting = self.choices.choice, self._highlighted_setting
        if choice is not None and choice.value in FOLDS:
            self._open_folds ^= {choice.value}
            self._show_settings()
            self.choices.scroll_to(y=self.choices.highlighted, animate=False)
        elif choice is not None and choice.value == EDIT_FILE:
            self._edit_file()
        elif setting is not None and setting.key == "theme":
            self._choose_theme(setting)
        elif setting is not None:
            self._take(setting)

    def _take(self, setting: Setting) -> None:
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
                self._show_message(
                    tr("This setting can't be changed here. Edit config.toml, under Advanced.")
                )
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
