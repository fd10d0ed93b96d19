"""Edits of the config file keep comments and replace the file atomically."""

import stat
import tomllib
from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.project_trust import ProjectTrust
from kimi_tui.config.toml_edit import add_allowed_rule, allow_in_project, set_default_model, set_theme

COMMENTED = """# my settings
theme = "dark"  # at night

[permissions]
allow = [
    "git *",  # harmless
]
"""


def test_a_rule_is_added_and_every_comment_stays(home):
    path = home.write(COMMENTED)
    add_allowed_rule(path, "pytest *")
    text = path.read_text()
    assert tomllib.loads(text)["permissions"]["allow"] == ["git *", "pytest *"]
    for comment in ("# my settings", "# at night", "# harmless"):
        assert comment in text


def test_an_existing_rule_is_not_added_twice(home):
    path = home.write(COMMENTED)
    add_allowed_rule(path, "git *")
    assert home.settings().permissions.allow == ("git *",)


def test_a_rule_added_to_a_project_takes_effect_immediately(home):
    for rule in ("git *", "ls"):
        allow_in_project(rule, work_dir=home.work_dir, data_dir=home.data_dir)
    assert home.settings().permissions.allow == ("git *", "ls")


def test_adding_a_rule_does_not_make_a_project_config_trusted(home):
    home.write_project('[permissions]\nallow = ["rm *"]')
    allow_in_project("git *", work_dir=home.work_dir, data_dir=home.data_dir)
    assert home.settings().permissions.allow == ()


def test_a_rule_added_in_a_subdirectory_goes_to_the_repositorys_config(home):
    (home.work_dir / ".git").mkdir()
    project = home.write_project("# ours\n")
    ProjectTrust(home.data_dir).trust(project, project.read_text())
    home.work_dir /= "src"
    home.work_dir.mkdir()
    allow_in_project("git *", work_dir=home.work_dir, data_dir=home.data_dir)
    assert "git *" in project.read_text()
    assert home.settings().permissions.allow == ("git *",)


def test_a_missing_file_and_its_directory_are_created_private(home):
    path = home.data_dir / "new" / "config.toml"
    add_allowed_rule(path, "ls")
    set_default_model(path, "kimi")
    set_theme(path, "light")
    assert tomllib.loads(path.read_text()) == {
        "permissions": {"allow": ["ls"]},
        "default_model": "kimi",
        "theme": "light",
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_setting_is_changed_in_place(home):
    path = home.write(COMMENTED)
    set_theme(path, "light")
    assert 'theme = "light"  # at night' in path.read_text()


def test_a_symlinked_config_stays_a_symlink(home, tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_text(COMMENTED)
    link = home.data_dir / "config.toml"
    link.symlink_to(real)
    set_theme(link, "light")
    assert link.is_symlink()
    assert tomllib.loads(real.read_text())["theme"] == "light"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.yaml", "theme: dark"),
        ("config.toml", "theme = "),
        ("config.toml", "permissions = 3"),
        ("config.toml", "[permissions]\nallow = 'ls'"),
    ],
)
def test_a_file_that_cannot_be_edited_is_an_error_and_stays_unchanged(home, name, text):
    path = home.write(text, name)
    with pytest.raises(ConfigError, match="config edit"):
        add_allowed_rule(path, "ls")
    assert path.read_text() == text


def test_a_failed_write_is_an_error(home):
    blocked = home.write(COMMENTED) / "config.toml"
    with pytest.raises(ConfigError, match=r"Can't write .*: Not a directory"):
        set_theme(blocked, "light")


KIMI_CLI_CONFIG = 'theme = "dark"\nskip_afk_prompt_injection = false\n'


def test_a_config_that_kimi_cli_shares_keeps_a_theme_that_it_accepts(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(KIMI_CLI_CONFIG)
    set_theme(path, "light")
    assert 'theme = "light"' in path.read_text()
    set_theme(path, "auto")
    assert "theme" not in path.read_text()
    with pytest.raises(ConfigError, match="doesn't accept the theme high-contrast"):
        set_theme(path, "high-contrast")
    assert "high-contrast" not in path.read_text()


def test_our_own_config_gets_any_theme(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    set_theme(path, "auto")
    assert path.read_text() == 'theme = "auto"\n'
