"""What the app's first frame needs of the settings, without the price of validating all of them.

Importing pydantic costs half as much as Textual, so the first frame takes what is right here and the default
for the rest; `config.loading.settings_of` then says what is wrong, before anything depends on it.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, Literal, cast, get_args, get_type_hints

from kimi_tui.base.value import value

Theme = Literal["auto", "dark", "light", "high-contrast"]
Images = Literal["auto", "kitty", "blocks", "off"]
Notify = Literal["auto", "off", "bell", "osc9", "osc777", "osc99"]


@value(kw_only=True)
class UI:
    """How the app looks and behaves."""

    mouse: bool = True
    """Whether the app takes the mouse."""
    reduced_motion: bool = False
    """Nothing moves by itself: no spinner, no animated scrolling."""
    screen_reader: bool = False
    """Somebody listens to the terminal: line by line in place of a screen, as `--screen-reader`."""
    inline: bool = False
    """The app stays on the ordinary screen, and what was said in its scrollback, as with `--inline`."""
    keep_transcript: bool = False
    """What was said is left on the terminal when the app has gone; with `inline` it always is."""
    images: Images = "auto"
    """How pictures are shown: as such in kitty and Ghostty, in half blocks elsewhere, or not at all."""
    notify: Notify = "auto"
    """How you are called when a turn ends, or something waits, while you look elsewhere."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


@value(kw_only=True)
class Appearance:
    """Theme, keys and looks."""

    theme: Theme = "auto"
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Binding ids to keys."""
    ui: UI = UI()


def appearance_in(data: Mapping[str, Any]) -> Appearance:
    """The appearance that merged config `data` asks for."""
    theme, keymap, ui = data.get("theme"), data.get("keymap"), data.get("ui")
    return Appearance(
        theme=cast("Theme", theme) if theme in get_args(Theme) else "auto",
        keymap={key: keys for key, keys in _items(keymap) if isinstance(keys, str)},
        ui=UI(**_valid(_items(ui))),
    )


def _valid(looks: list[tuple[str, Any]]) -> dict[str, Any]:
    kinds = get_type_hints(UI)
    flags = {name for name, kind in kinds.items() if kind is bool}
    return {
        name: look
        for name, look in looks
        if (isinstance(look, bool) if name in flags else look in get_args(kinds.get(name)))
    }


def _items(table: Any) -> list[tuple[str, Any]]:
    return list(table.items()) if isinstance(table, Mapping) else []
