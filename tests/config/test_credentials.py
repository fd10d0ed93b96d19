"""Stored keys: where they count, and what goes before them."""

from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.credentials import Credential, Credentials
from kimi_tui.config.loading import read_config, settings_of
from kimi_tui.config.resolved_model import ResolvedModel, resolve_model

CONFIG = """
default_model = "m"
[providers.p]
type = "{type}"
{more}
[models.m]
provider = "p"
model = "x"
max_context_size = 1000
"""


def resolved(share_dir: Path, config: str = "", **environ: str) -> ResolvedModel:
    (share_dir / "config.toml").write_text(config)
    read = read_config(share_dir=share_dir, work_dir=share_dir, environ=environ)
    return resolve_model(settings_of(read), environ=environ)


@pytest.fixture
def share_dir(tmp_path: Path) -> Path:
    Credentials(tmp_path).keep("kimi", Credential("sk-stored", "https://example.com/v1"))
    return tmp_path


def test_without_a_config_a_stored_key_is_all_that_is_needed(share_dir: Path) -> None:
    model = resolved(share_dir)
    assert (model.type, model.api_key, model.base_url) == ("kimi", "sk-stored", "https://example.com/v1")


def test_the_environment_goes_before_it_with_an_address_of_its_own(share_dir: Path) -> None:
    model = resolved(share_dir, KIMI_API_KEY="sk-env")
    assert (model.api_key, model.base_url) == ("sk-env", None)


def test_it_stands_in_for_a_variable_that_is_not_set(share_dir: Path) -> None:
    config = CONFIG.format(type="kimi", more='api_key = "env:KIMI_API_KEY"')
    assert resolved(share_dir, config).api_key == "sk-stored"
    assert resolved(share_dir, CONFIG.format(type="kimi", more="")).api_key == "sk-stored"


def test_an_address_in_the_config_stays(share_dir: Path) -> None:
    config = CONFIG.format(type="kimi", more='base_url = "https://own.example.com/v1"')
    assert resolved(share_dir, config).base_url == "https://own.example.com/v1"


def test_a_key_in_the_config_goes_before_it(share_dir: Path) -> None:
    assert resolved(share_dir, CONFIG.format(type="kimi", more='api_key = "sk-own"')).api_key == "sk-own"


def test_it_goes_to_no_server_that_the_config_names_for_others(tmp_path: Path) -> None:
    Credentials(tmp_path).keep("openai", Credential("sk-stored"))
    config = CONFIG.format(type="openai", more='base_url = "http://localhost:1/v1"')
    assert resolved(tmp_path, config).api_key == ""


def test_it_is_never_in_a_representation() -> None:
    assert "sk-" not in repr(Credential("sk-stored"))


def test_a_file_that_is_broken_is_told(tmp_path: Path) -> None:
    Credentials(tmp_path).path.write_text("{")
    with pytest.raises(ConfigError, match="stored keys"):
        resolved(tmp_path)
