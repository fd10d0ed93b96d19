"""Settings of the first frame, from a config not validated yet."""

import pytest

from kimi_tui.config.startup_settings import StartupSettings, UISettings, startup_settings


def test_theme_keys_and_interface_settings_are_read():
    data = {"theme": "light", "keymap": {"app.quit": "ctrl+w"}, "ui": {"mouse": False, "notify": "osc9"}}
    ui = UISettings(mouse=False, notify="osc9")
    assert startup_settings(data) == StartupSettings(theme="light", keymap={"app.quit": "ctrl+w"}, ui=ui)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"theme": "Mauve!"},
        {"theme": ["x"]},
        {"keymap": 3},
        {"keymap": {"a": 1}},
        {"ui": {"mouse": "x", "y": 1}},
        {"ui": {"mouse": 1, "notify": True}},
        {"ui": {"notify": "drums", "__pydantic_config__": "x"}},
    ],
)
def test_invalid_values_fall_back_to_the_defaults(data):
    assert startup_settings(data) == StartupSettings()
