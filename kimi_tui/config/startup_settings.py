"""The settings that the first frame needs, read without pydantic.

Importing pydantic takes half as long as Textual. So the first frame uses the valid values and defaults
for the rest; `config.loader.settings_of` reports invalid values before anything depends on them.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, Literal, get_args, get_type_hints

from kimi_tui.base.frozen import frozen
from kimi_tui.config.theme_names import is_theme_name

ImageMode = Literal["auto", "kitty", "blocks", "off"]
ThinkingDisplay = Literal["preview", "full", "summary"]
NotifyMode = Literal["auto", "off", "bell", "osc9", "osc777", "osc99"]


@frozen(kw_only=True)
class UISettings:
    """How the app looks and behaves."""

    mouse: bool = True
    """Whether the app uses the mouse."""
    reduced_motion: bool = False
    """No animation: no spinner, no smooth scrolling."""
    screen_reader: bool = False
    """Line-by-line output for screen readers, as with `--screen-reader`."""
    inline: bool = False
    """Runs in the normal screen and leaves the conversation in the scrollback, as with `--inline`."""
    keep_transcript: bool = False
    """Prints the conversation to the terminal on exit; always on with `inline`."""
    images: ImageMode = "auto"
    """How images are shown: as images in kitty and Ghostty, in half blocks elsewhere, or not at all."""
    thinking: ThinkingDisplay = "preview"
    """How thinking is shown: in one line with its latest sentence, in full, or in one line without text."""
    notify: NotifyMode = "auto"
    """How to notify you when a turn ends or needs your input while the terminal isn't focused."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


@frozen(kw_only=True)
class StartupSettings:
    """Theme, key map and interface settings."""

    theme: str = "auto"
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by binding id."""
    ui: UISettings = UISettings()
    is_resident: bool = False
    """Whether the app opens sessions in the resident engine."""


def startup_settings(data: Mapping[str, Any]) -> StartupSettings:
    """Return the startup settings in the merged config `data`. Invalid values are ignored."""
    theme, keymap, ui = data.get("theme"), data.get("keymap"), data.get("ui")
    return StartupSettings(
        theme=theme if isinstance(theme, str) and is_theme_name(theme) else "auto",
        keymap={key: keys for key, keys in _items(keymap) if isinstance(keys, str)},
        ui=UISettings(**_valid_entries(_items(ui))),
        is_resident=dict(_items(data.get("serve"))).get("enabled") is True,
    )


def _valid_entries(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    kinds = get_type_hints(UISettings)
    flags = {name for name, kind in kinds.items() if kind is bool}
    return {
        name: look
        for name, look in entries
        if (isinstance(look, bool) if name in flags else look in get_args(kinds.get(name)))
    }


def _items(table: Any) -> list[tuple[str, Any]]:
    return list(table.items()) if isinstance(table, Mapping) else []
