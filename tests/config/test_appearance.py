"""What the first frame takes from a config that nobody has validated yet."""

import pytest

from kimi_tui.config.appearance import UI, Appearance, appearance_in


def test_theme_keys_and_looks_are_taken():
    data = {"theme": "light", "keymap": {"app.quit": "ctrl+w"}, "ui": {"mouse": False, "notify": "osc9"}}
    ui = UI(mouse=False, notify="osc9")
    assert appearance_in(data) == Appearance(theme="light", keymap={"app.quit": "ctrl+w"}, ui=ui)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"theme": "mauve"},
        {"theme": ["x"]},
        {"keymap": 3},
        {"keymap": {"a": 1}},
        {"ui": {"mouse": "x", "y": 1}},
        {"ui": {"mouse": 1, "notify": True}},
        {"ui": {"notify": "drums", "__pydantic_config__": "x"}},
    ],
)
def test_what_is_wrong_falls_back_to_the_default(data):
    assert appearance_in(data) == Appearance()
