"""Settings that count in the app that runs: which ones, and how each is put into effect."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast, get_args

from textual.app import App

from kimi_tui.language.saying import say
from kimi_tui.tui.keys import GROUPS, KeyNames, complaints, known_ids
from kimi_tui.tui.options import ThemeChoice
from kimi_tui.tui.themes import resolved_theme
from kimi_tui.wire.commands import Command, SetModel, SetThinking
from kimi_tui.wire.settings import Setting

When = Literal["now", "session", "restart"]
_NOW = ("theme", "default_thinking", "default_model", "ui.reduced_motion")
_KEYMAP = "keymap."


def when_it_counts(key: str) -> When:
    """From when on a new value of a setting counts."""
    if key in _NOW or key.startswith(_KEYMAP):
        return "now"
    return "restart" if key == "language" or key.startswith("ui.") else "session"


class LiveSettings:
    """Puts new values into effect."""

    def __init__(self, *, app: App[Any], names: KeyNames, command: Callable[[Command], None]) -> None:
        self._app = app
        self._names = names
        self._command = command

    def use(self, setting: Setting) -> str:
        """Have the value of `setting` count from now on; what is odd about it, in a sentence, if anything."""
        value = setting.value
        match setting.key:
            case "theme" if value in get_args(ThemeChoice):
                self._app.theme = resolved_theme(cast("ThemeChoice", value))
            case "default_thinking":
                self._command(SetThinking(value == "true"))
            case "default_model" if value:
                self._command(SetModel(value))
            case "ui.reduced_motion":
                self._app.animation_level = "none" if value == "true" else "full"
            case key if key.startswith(_KEYMAP):
                return self._use_key(binding_id(key), value)
            case _:
                pass
        return ""

    def with_keys(self, settings: Sequence[Setting]) -> tuple[Setting, ...]:
        """`settings` with every key that there is, whether it is mapped or not."""
        mapped = {binding_id(it.key): it for it in settings if it.key.startswith(_KEYMAP)}
        keys = []
        for group, members in GROUPS:
            for key in members:
                known = mapped.pop(key.id, None)
                meaning = f"{say(group)}: {say(key.label)}"
                if known is not None:
                    keys.append(replace(known, meaning=meaning, default=key.keys))
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

    def _use_key(self, name: str, keys: str) -> str:
        if name not in known_ids():
            return say("There is no key {name}; /keys lists the names.", name=name)
        keymap = {**self._names.changed, name: keys}
        self._names.use(keymap)
        self._app.set_keymap(self._names.changed)
        return " ".join(complaints({name: keys} | keymap))


def binding_id(key: str) -> str:
    """The id in `keymap."ID"`."""
    name = key.removeprefix(_KEYMAP)
    try:
        return next(iter(tomllib.loads(f"{name} = 0"))) if name.startswith('"') else name
    except tomllib.TOMLDecodeError:
        return name
