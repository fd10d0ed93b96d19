"""Changes of settings keep comments and reject invalid values."""

from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.effective_settings import SettingView, effective_settings
from kimi_tui.config.loader import read_config
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.set_value import set_setting

CONFIG = """\
# mine
theme = "dark" # at night

[loop_control]
max_steps_per_turn = 50

[keymap.timeline]
leave = "q"
"""


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    (tmp_path / "config.toml").write_text(CONFIG)
    return tmp_path


def config(data_dir: Path, **more: object) -> RawConfig:
    return read_config(data_dir=data_dir, work_dir=data_dir, environ={}, **more)  # type: ignore[arg-type]


def config_text(data_dir: Path) -> str:
    return (data_dir / "config.toml").read_text()


def change(data_dir: Path, key: str, text: str | None, **more: object) -> str:
    return set_setting(key, text, config=config(data_dir, **more), data_dir=data_dir)


def setting_view(data_dir: Path, key: str, **more: object) -> SettingView:
    (view,) = [
        it
        for it in effective_settings(config(data_dir, **more), data_dir=data_dir, work_dir=data_dir)
        if it.key == key
    ]
    return view


def test_comments_and_other_settings_are_kept(data_dir: Path) -> None:
    assert change(data_dir, "theme", "light") == ""
    change(data_dir, "ui.mouse", "off")
    change(data_dir, "checkpoints.exclude", '["data/", "数据"]')
    assert config_text(data_dir) == CONFIG.replace('"dark"', '"light"') + (
        '\n[ui]\nmouse = false\n\n[checkpoints]\nexclude = ["data/", "数据"]\n'
    )


def test_a_setting_is_removed(data_dir: Path) -> None:
    change(data_dir, "theme", None)
    assert config_text(data_dir).startswith("# mine\n\n[loop_control]")
    assert setting_view(data_dir, "theme").origin == "default"


def test_an_empty_table_is_removed_unless_it_has_a_comment(data_dir: Path) -> None:
    change(data_dir, "loop_control.max_steps_per_turn", None)
    assert "loop_control" not in config_text(data_dir)
    (data_dir / "config.toml").write_text("[ui]\n# for the train\nmouse = false\n")
    change(data_dir, "ui.mouse", None)
    assert config_text(data_dir) == "[ui]\n# for the train\n"


def test_a_binding_id_is_one_key_in_any_notation(data_dir: Path) -> None:
    assert setting_view(data_dir, 'keymap."timeline.leave"').value == "q"
    change(data_dir, "keymap.timeline.leave", "x")
    assert setting_view(data_dir, 'keymap."timeline.leave"').value == "x"
    assert '"q"' not in config_text(data_dir)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("loop_control.max_steps_per_turn", "0", "should be greater than or equal to 1"),
        ("loop_control.max_steps_per_turn", "many", "It should be a whole number."),
        ("ui.mouse", "perhaps", "It should be true or false."),
        ("theme", "pink", "Valid values: auto, dark, light, high-contrast, textual-dark, "),
        ("checkpoints.exclude", "[1", "isn't a list"),
        ("checkpoints.exclude", "[1]", "should be text"),
        ("default_model", "nobody", "Unknown model “nobody”."),
        ("loop_control.max_stepps_per_turn", "1", "Did you mean max_steps_per_turn?"),
        ("nonsense", "1", "Unknown setting nonsense."),
        ("a b", "1", "isn't a valid setting key"),
        ("providers.p.api_key", "k", "a secret"),
        ("providers.p.custom_headers.x", "k", "a secret"),
        ("hooks", "x", "contains tables"),
    ],
)
def test_an_invalid_value_is_rejected_and_the_file_unchanged(
    data_dir: Path, key: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        change(data_dir, key, text)
    assert message in str(error.value)
    assert config_text(data_dir) == CONFIG


def test_a_setting_has_its_origin(data_dir: Path) -> None:
    assert (setting_view(data_dir, "theme").origin, setting_view(data_dir, "theme").place) == (
        "user",
        str(data_dir / "config.toml"),
    )
    assert setting_view(data_dir, "theme", config_text='theme = "light"').origin == "option"
    assert setting_view(data_dir, "ui.mouse").value == "true"
    assert setting_view(data_dir, "ui.mouse").meaning == "Whether the app uses the mouse."
    assert change(data_dir, "theme", "light", config_text='theme = "dark"') == "--config"


def test_permission_rules_are_those_of_the_users_file(data_dir: Path) -> None:
    more = {"config_text": 'permissions.allow = ["Bash(ls)"]'}
    assert setting_view(data_dir, "permissions.allow", **more).value == "[]"
    change(data_dir, "permissions.allow", "Bash(make *)", **more)
    assert setting_view(data_dir, "permissions.allow", **more).value == '["Bash(make *)"]'


def test_only_the_presence_of_secrets_is_shown(data_dir: Path) -> None:
    text = '[providers.p]\ntype = "openai"\napi_key = "secret"\ncustom_headers = { x = "secret" }\n'
    (data_dir / "config.toml").write_text(text)
    views = effective_settings(config(data_dir), data_dir=data_dir, work_dir=data_dir)
    assert "secret" not in {part for it in views for part in (it.value, it.default)}
    assert {it.key: it.value for it in views if it.kind == "secret" and it.value} == {
        "providers.p.api_key": "set",
        "providers.p.custom_headers.x": "set",
    }
