"""A setting is changed in the file, its comments kept, and refused in the models' words."""

from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.changing import change_setting
from kimi_tui.config.loading import RawConfig, read_config
from kimi_tui.config.overview import SettingView, overview

CONFIG = """\
# mine
theme = "dark" # at night

[loop_control]
max_steps_per_turn = 50

[keymap.timeline]
leave = "q"
"""


@pytest.fixture
def share(tmp_path: Path) -> Path:
    (tmp_path / "config.toml").write_text(CONFIG)
    return tmp_path


def config(share: Path, **more: object) -> RawConfig:
    return read_config(share_dir=share, work_dir=share, environ={}, **more)  # type: ignore[arg-type]


def written(share: Path) -> str:
    return (share / "config.toml").read_text()


def change(share: Path, key: str, text: str | None, **more: object) -> str:
    return change_setting(key, text, config=config(share, **more), share_dir=share)


def shown(share: Path, key: str, **more: object) -> SettingView:
    (view,) = [it for it in overview(config(share, **more), share_dir=share, work_dir=share) if it.key == key]
    return view


def test_comments_and_the_rest_stay(share: Path) -> None:
    assert change(share, "theme", "light") == ""
    change(share, "ui.mouse", "off")
    change(share, "checkpoints.exclude", '["data/", "数据"]')
    assert written(share) == CONFIG.replace('"dark"', '"light"') + (
        '\n[ui]\nmouse = false\n\n[checkpoints]\nexclude = ["data/", "数据"]\n'
    )


def test_a_setting_is_taken_out_again(share: Path) -> None:
    change(share, "theme", None)
    assert written(share).startswith("# mine\n\n[loop_control]")
    assert shown(share, "theme").origin == "default"


def test_a_table_goes_with_its_last_key_but_not_with_a_comment(share: Path) -> None:
    change(share, "loop_control.max_steps_per_turn", None)
    assert "loop_control" not in written(share)
    (share / "config.toml").write_text("[ui]\n# for the train\nmouse = false\n")
    change(share, "ui.mouse", None)
    assert written(share) == "[ui]\n# for the train\n"


def test_the_id_of_a_key_is_one_key_however_it_was_written(share: Path) -> None:
    assert shown(share, 'keymap."timeline.leave"').value == "q"
    change(share, "keymap.timeline.leave", "x")
    assert shown(share, 'keymap."timeline.leave"').value == "x"
    assert '"q"' not in written(share)


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("loop_control.max_steps_per_turn", "0", "should be greater than or equal to 1"),
        ("loop_control.max_steps_per_turn", "many", "It should be a whole number."),
        ("ui.mouse", "perhaps", "It should be true or false."),
        ("theme", "pink", "Its values are auto, dark, light, high-contrast."),
        ("checkpoints.exclude", "[1", "is no list"),
        ("checkpoints.exclude", "[1]", "should be text"),
        ("default_model", "nobody", "There is no model “nobody”."),
        ("loop_control.max_stepps_per_turn", "1", "Did you mean max_steps_per_turn?"),
        ("nonsense", "1", "There is no setting nonsense."),
        ("a b", "1", "is no key of a setting"),
        ("providers.p.api_key", "k", "a secret"),
        ("providers.p.custom_headers.x", "k", "a secret"),
        ("hooks", "x", "holds tables"),
    ],
)
def test_what_is_no_value_is_refused_and_the_file_stays(share: Path, key: str, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        change(share, key, text)
    assert told in str(error.value)
    assert written(share) == CONFIG


def test_where_a_value_comes_from_is_told(share: Path) -> None:
    assert (shown(share, "theme").origin, shown(share, "theme").place) == (
        "user",
        str(share / "config.toml"),
    )
    assert shown(share, "theme", config_text='theme = "light"').origin == "option"
    assert shown(share, "ui.mouse").value == "true"
    assert shown(share, "ui.mouse").meaning == "Whether the app takes the mouse."
    assert change(share, "theme", "light", config_text='theme = "dark"') == "--config"


def test_rules_are_those_of_the_users_file_alone(share: Path) -> None:
    more = {"config_text": 'permissions.allow = ["Bash(ls)"]'}
    assert shown(share, "permissions.allow", **more).value == "[]"
    change(share, "permissions.allow", "Bash(make *)", **more)
    assert shown(share, "permissions.allow", **more).value == '["Bash(make *)"]'


def test_secrets_are_only_said_to_be_there(share: Path) -> None:
    text = '[providers.p]\ntype = "openai"\napi_key = "secret"\ncustom_headers = { x = "secret" }\n'
    (share / "config.toml").write_text(text)
    views = overview(config(share), share_dir=share, work_dir=share)
    assert "secret" not in {part for it in views for part in (it.value, it.default)}
    assert {it.key: it.value for it in views if it.kind == "secret" and it.value} == {
        "providers.p.api_key": "set",
        "providers.p.custom_headers.x": "set",
    }
