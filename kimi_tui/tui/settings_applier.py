"""Applies changed settings to the running app."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from textual.app import App

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.thinking_effort import parse_thinking_effort
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import GROUPS, KeyLabels, keymap_errors, known_binding_ids
from kimi_tui.tui.terminal.background import KnownBackground
from kimi_tui.tui.themes import register_theme, resolve_theme
from kimi_tui.wire.commands import SetModel, SetThinking
from kimi_tui.wire.settings import Setting

EffectiveFrom = Literal["now", "session", "restart"]
_IMMEDIATE_KEYS = ("theme", "default_thinking", "default_model", "ui.reduced_motion")
_KEYMAP = "keymap."


def effective_from(key: str) -> EffectiveFrom:
    """Return when a new value of a setting takes effect."""
    if key in _IMMEDIATE_KEYS or key.startswith(_KEYMAP):
        return "now"
    return "restart" if key == "language" or key.startswith("ui.") else "session"


class SettingsApplier:
    """Applies new values of settings that take effect immediately."""

    def __init__(
        self,
        *,
        app: App[Any],
        key_labels: KeyLabels,
        host: CommandHost,
        data_dir: Path,
        background: KnownBackground,
    ) -> None:
        self._app = app
        self.background = background
        self._data_dir = data_dir
        self._key_labels = key_labels
        self._host = host

    def apply_setting(self, setting: Setting) -> str:
        """Apply the new value of `setting`. Return a warning about the value, or an empty string."""
        value = setting.value
        match setting.key:
            case "theme":
                return self._apply_theme(resolve_theme(value or "auto", luminance=self.background.luminance))
            case "default_thinking":
                effort = parse_thinking_effort(value) or "off"
                self._host.command(SetThinking(effort != "off", effort))
            case "default_model" if value:
                self._host.command(SetModel(value))
            case "ui.reduced_motion":
                self._app.animation_level = "none" if value == "true" else "full"
            case key if key.startswith(_KEYMAP):
                return self._apply_key(binding_id(key), value)
            case _:
                pass
        return ""

    def _apply_theme(self, name: str) -> str:
        try:
            register_theme(self._app, name, self._data_dir)
        except KimiTuiError as error:
            return translate_error(error)
        self._app.theme = name
        return ""

    def add_key_settings(self, settings: Sequence[Setting]) -> tuple[Setting, ...]:
        """Return `settings` with an entry for every key binding, including unmapped ones."""
        mapped = {binding_id(it.key): it for it in settings if it.key.startswith(_KEYMAP)}
        keys = []
        for group, members in GROUPS:
            for key in members:
                setting = mapped.pop(key.id, None)
                meaning = f"{tr(group)}: {tr(key.label)}"
                if setting is not None:
                    keys.append(replace(setting, meaning=meaning, default=key.keys))
                else:
                    name = f'{_KEYMAP}"{key.id}"'
                    keys.append(
                        Setting(
                            key=name,
                            group="keymap",
                            kind="text",
                            meaning=meaning,
                            value=key.keys,
                            default=key.keys,
                        )
                    )
        others = [it for it in settings if not it.key.startswith(_KEYMAP)]
        return (*others, *keys, *mapped.values())

    def _apply_key(self, name: str, keys: str) -> str:
        if name not in known_binding_ids():
            return tr("Unknown key binding {name}. See /keys for the list.", name=name)
        keymap = {**self._key_labels.overrides, name: keys}
        self._key_labels.apply_keymap(keymap)
        self._app.set_keymap(self._key_labels.overrides)
        return " ".join(keymap_errors({name: keys} | keymap))


def binding_id(key: str) -> str:
    """Return the ID in `keymap."ID"`."""
    name = key.removeprefix(_KEYMAP)
    try:
        return next(iter(tomllib.loads(f"{name} = 0"))) if name.startswith('"') else name
    except tomllib.TOMLDecodeError:
        return name
